create function textrawl.list_erasure(
    person text, also text[] default '{}', keep text default null,  -- as in erasure_plan()
    max_rows integer default 50, skip integer default 0,
    space integer default null, credential bytea default null
) returns table (
    space_name text,
    action text,       -- delete or redact
    kind text, key text, by_person boolean,  -- as in erasure_plan()
    sample text,       -- null for callers who cannot read the space, as the two columns below
    entity_name text,  -- of a fact, a relation or an entity
    author text, total bigint
)
language plpgsql stable security definer rows 50
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_keep(keep, person || also);
    return query
        with home as materialized (
            select s.id, s.name, may_read(credential, s.id) as sees, f.names, f.entities, f.actors
            from space s cross join lateral find_person(s.id, person, also) f
            where s.id = any(administered_spaces(credential, list_erasure.space))
        ), page as materialized (
            select h.id, h.name, h.sees, t.*, case when t.kind in ('entity', 'observation', 'chunk', 'relation') then t.key::uuid end as row_id,
                count(*) over () as total
            from home h
            cross join lateral erasure_rows(h.id, person_pattern(h.names), h.entities, h.actors, keep) t
            order by h.id, t.redacted, t.kind, t.sample, t.key limit max_rows offset skip
        )
        select p.name, case when p.redacted then 'redact' else 'delete' end, p.kind, p.key, p.own,
            case when p.sees then p.sample end, case when p.sees then e.name end, case when p.sees then a.name end, p.total
        from page p
        left join observation o on p.kind in ('observation', 'chunk') and o.space_id = p.id and o.id = p.row_id
        left join relation r on p.kind = 'relation' and r.space_id = p.id and r.id = p.row_id
        left join entity e on e.space_id = p.id and e.id = coalesce(o.entity_id, r.from_entity, p.row_id)
        left join actor a on a.id = coalesce(o.author_id, r.author_id)
        order by p.id, p.redacted, p.kind, p.sample, p.key;
end
$$;

comment on function textrawl.list_erasure is
    'A page of the rows that erase_person() would delete and redact, each with its entity and its author. '
    'Errors: TR010, TR011 (access), TR120 (no name), TR121 (keep). '
    'Example: select kind, entity_name, sample from textrawl.list_erasure(''Jeff'');';
