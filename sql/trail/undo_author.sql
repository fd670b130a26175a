create function textrawl.undo_author(
    author text, since timestamptz, space integer default null, credential bytea default null,
    client text default null, tool text default 'sql', request text default null, others boolean default false
) returns table (
    undo_id bigint, space_name text, removed bigint, handed_over bigint, revived bigint, reset bigint, moved bigint, retyped bigint,
    dropped bigint, lost bigint, kept bigint
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces    integer[] := administered_spaces(credential, undo_author.space);
    author_id integer := find_author(undo_author.author);
    place     integer;
    origin    origin;
    taken     bigint[];
    held      uuid[];
begin
    perform claim_removal(alone => true);
    foreach place in array spaces loop
        origin := open_write(credential, place, 'admin', client, tool, request);
        -- In the order of names, like every writer. Nobody then says anything about them until this is done.
        with told as materialized (
            select e.entity_id, e.observation_id, e.relation_id, e.detail from event e
            where e.space_id = place and e.id = any(events_to_undo(place, author_id, undo_author.since))
        ), concerned as (
            select entity_id as id from told
            union
            select unnest(array[(detail ->> 'to')::uuid, (detail ->> 'from')::uuid]) from told
            union
            select unnest(array[r.from_entity, r.to_entity])
            from told join relation r on r.space_id = place and r.id = told.relation_id
            union
            -- Facts that were moved to another since.
            select o.entity_id
            from told, unnest(array[told.observation_id, (told.detail ->> 'replaced')::uuid]) fact
            join observation o on o.space_id = place and o.id = fact
        ), locked as (
            select e.id from entity e
            where e.space_id = place and e.id in (select id from concerned)
            order by e.name_key for update
        )
        select coalesce(array_agg(id), '{}') into held from locked;
        -- What the author wrote in the meantime about other entities is left for another undo.
        select array_agg(e.id order by e.id) into taken from event e
        where e.space_id = place and e.id = any(events_to_undo(place, author_id, undo_author.since))
          and not exists (
              select from entity n
              where n.space_id = place and n.id in (e.entity_id, (e.detail ->> 'to')::uuid, (e.detail ->> 'from')::uuid) and n.id <> all(held));
        continue when taken is null;
        return query
            select d.undo_id, s.name, d.removed, d.handed_over, d.revived, d.reset, d.moved, d.retyped, d.dropped, d.lost, d.kept
            from undo_events(author_id, undo_author.since, taken, origin, others) d, space s where s.id = place;
    end loop;
end
$$;

comment on function textrawl.undo_author is
    'Takes back what an author wrote since an instant, as plan_undo tells, in one space or all that may be administered: a row for each space where there was anything, with the id that revert_undo takes. others: also what others think about what goes. Errors: TR010, TR011 (access), TR030 no such author. Example: select * from textrawl.undo_author(''ana'', now() - interval ''2 hours'');';
