create function textrawl.end_former_facts(told uuid[], origin textrawl.origin) returns jsonb
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space  integer := origin.space_id;
    spoken text := space_language(origin.space_id)::text;
    moment timestamptz := clock_timestamp();
    closed jsonb := '[]';
    fresh  record;
    ending record;
    former record;
begin
    if not exists (select from observation o where o.space_id = space and o.id = any(told) and o.claim ?| '{ends,sole}') then
        return null;  -- as most facts, and much quicker than the query
    end if;
    for fresh in
        select o.*, t.place, e.name, name_stems(e.name, spoken) as names from unnest(told) with ordinality t (id, place)
        join observation o on o.space_id = space and o.id = t.id
        join entity e on e.space_id = space and e.id = o.entity_id
        -- What somebody else wrote, and what has not begun, ends nothing.
        where o.claim ?| '{ends,sole}' and o.source <> 'document' and o.evidence is null and o.valid_from <= moment
          and is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment)
        order by t.place
    loop
        for ending in
            select * from (
                select o.*, found.why, count(*) over () as several
                from ended_candidates(space, fresh.id) c
                join fact o on o.space_id = space and o.id = c.id
                cross join lateral (
                    select case when not c.other and fresh.claim -> 'ends' ? 'now'
                                 and (fresh.claim ->> 'topic' = o.claim ->> 'topic' or fresh.claim ->> 'predicate' = o.claim ->> 'predicate')
                                then compare_claims(fresh.claim, o.claim) end as contrary) compared
                cross join lateral (
                    select coalesce(compared.contrary, case when ended_by(fresh.claim, o.claim, fresh.names || c.names) = 'sure'
                        then fresh.claim #>> '{ends,by}' end) as why) found
                where fresh.claim ? 'ends' and found.why is not null
                  and o.id <> all(told) and o.said_at < fresh.said_at and o.valid_from < fresh.valid_from and o.whole is null
                  and (o.repository is null) = (fresh.repository is null) and is_of_repository(o.repository, session_repositories())
            ) sure where several <= 3
            union all
            -- The newest of several values holds, also of those in one call.
            select o.*, 'other value', 1 from fact o
            where fresh.claim ? 'sole' and o.space_id = space and o.entity_id = fresh.entity_id and o.claim ->> 'sole' = fresh.claim ->> 'sole'
              and (o.repository is null) = (fresh.repository is null) and is_of_repository(o.repository, session_repositories())
              and o.ordinal < fresh.ordinal and o.said_at <= fresh.said_at and o.valid_from <= fresh.valid_from
              and is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
        loop
            -- Wait for no other session, because this one has locked the entity of the new fact.
            continue when not exists (
                select from entity e where e.space_id = space and e.id = ending.entity_id for no key update skip locked);
            select r.valid_until into former from replace_fact(space, ending.id, fresh.id, fresh.valid_from, moment) r;
            update entity e set updated_at = moment where e.space_id = space and e.id = ending.entity_id and e.id <> fresh.entity_id;
            perform record_event('replaced', ending.entity_id, fresh.id, null, origin,
                jsonb_build_object('replaced', ending.id, 'until', former.valid_until, 'new', false, 'why', ending.why));
            closed := closed || mark_external(space, jsonb_build_object(
                'fact', fresh.place - 1, 'id', ending.id, 'content', ending.content, 'why', ending.why));
        end loop;
    end loop;
    return nullif(closed, '[]');
end
$$;

comment on function textrawl.end_former_facts is
    'End the older facts that new facts say to be over, if that is sure: the same entity, or one that the text names, and a '
    'word that ends with the same object (brought the ladder back), or another value with a word for the change (now '
    'works at). The same sentence with another end replaces the former one, also of this call, if one end is true at a time: '
    'sole_topic(). The facts point to the new fact, as with "replaces". Return [{fact, id, content, why}]; `fact` is the '
    'position of the new fact. Facts from documents end nothing, and words end nothing of the same call. If words '
    'end more than three facts, that is in doubt, and none ends.';
