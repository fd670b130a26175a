create function textrawl.erasure_plan(
    person text, also text[] default '{}',  -- further names of the person
    keep text default null,  -- others: what others wrote stays. own: what the person wrote about others stays
    space integer default null, credential bytea default null
) returns table (
    space_id integer, space_name text,
    action text,        -- delete, redact or stay
    kind text,          -- table of the rows; chunk: parts of sources; archived_space: rows of a space that is archived
    by_person boolean,  -- false: others wrote the rows; null: the rows have no author
    rows bigint, sample text[],
    fingerprint text    -- of all rows of the space that go, for erase_person(planned)
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home    record;
    found   record;
    counted record;
begin
    perform require_keep(keep, person || also);
    for home in
        select s.id, s.name, may_read(credential, s.id) as sees from space s
        where s.id = any(administered_spaces(credential, erasure_plan.space)) order by s.id
    loop
        select * into found from find_person(home.id, person, also);
        select * into counted from count_erasure(home.id, found.names, found.entities, found.actors, keep);
        return query
            select home.id, home.name, case when t.redacted then 'redact' else 'delete' end, t.kind, t.own, count(*),
                case when home.sees then (array_agg(t.sample order by t.sample))[1:3] end, counted.fingerprint
            from erasure_rows(home.id, person_pattern(found.names), found.entities, found.actors, keep) t
            group by t.kind, t.own, t.redacted
            order by t.redacted, t.kind, t.own desc nulls last;
        return query
            select home.id, home.name, 'stay', k.kind, k.by_person, k.rows, null::text[], counted.fingerprint from (
                select 'event' as kind, true as by_person, count(*) as rows
                from event e where e.space_id = home.id and e.actor_id = any(found.actors)
                union all
                select 'space_grant', true, count(*) from space_grant g where g.space_id = home.id and g.actor_id = any(found.actors)
                union all
                select 'space', null, count(*) from space s where s.id = home.id and names_person(s.name, person_pattern(found.names))
                union all
                select 'encrypted_document', null, count(*) from encrypted_document d where d.space_id = home.id
                union all
                select 'actor', true, count(*) from actor a
                where a.id = any(found.actors) and not (erasure_plan.space is null and may_rename_actors(credential))
                  -- Who administers this space does not learn who writes only in others.
                  and (exists (select from event e where e.space_id = home.id and e.actor_id = a.id)
                    or exists (select from space_grant g where g.space_id = home.id and g.actor_id = a.id))) k
            where k.rows > 0;
    end loop;
    -- Only the owner can open an archived space again.
    if erasure_plan.space is null and may_rename_actors(credential) then
        return query
            select s.id, s.name, 'stay', 'archived_space', null::boolean, c.number, null::text[], c.fingerprint
            from space s cross join lateral find_person(s.id, person, also) f
            cross join lateral count_erasure(s.id, f.names, f.entities, f.actors, keep) c
            where s.archived_at is not null and c.number > 0
            order by s.id;
    end if;
end
$$;

comment on function textrawl.erasure_plan is
    'What erase_person() would delete and redact in the spaces that one administers, and what stays. Samples are shown to '
    'callers who can read the space. To the owner, archived spaces that hold something are named, but nothing is erased there. Errors: TR010, TR011 (access), TR120 (no name), TR121 (keep). '
    'Example: select * from textrawl.erasure_plan(''Jeff'');';
