create function textrawl.import_relations(lines jsonb) returns table (place integer, stored uuid, outcome text)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    insert into actor (name)
    select distinct g.author from jsonb_to_recordset(lines) g(author text) order by 1
    on conflict (name) do nothing;
    -- As whoever writes about an entity does, in the order of names.
    perform from entity e
    where (e.space_id, e.id) in (
        select g.space, unnest(array[g.from_entity, g.to_entity])
        from jsonb_to_recordset(lines) g(space integer, from_entity uuid, to_entity uuid))
    order by e.space_id, e.name_key for no key update;
    return query
    with given as materialized (
        select g.*, relation_key(g.relation) as key, a.id as author_id, g.valid_until is null as live,
            exists (select from entity e where e.space_id = g.space and e.id = g.from_entity)
            and exists (select from entity e where e.space_id = g.space and e.id = g.to_entity) as housed
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, from_entity uuid, relation text, label text, to_entity uuid, strength real,
            valid_from timestamptz, valid_until timestamptz, author text, client text, tool text, request text,
            created_at timestamptz)
        join actor a on a.name = g.author
    ), seen as materialized (
        select g.*, same.id is not null as there,
            (same.from_entity, same.relation_type, same.to_entity) = (g.from_entity, g.key, g.to_entity) as theirs,
            twin.id as twin, row_number() over (partition by g.space, g.id order by g.place) as turn,
            exists (select from undone d where d.space_id = g.space and d.id = g.id and d.action = 'remove') as undone
        from given g
        left join relation same on same.space_id = g.space and same.id = g.id
        left join relation twin on g.live and twin.space_id = g.space and twin.valid_until is null
            and (twin.from_entity, twin.relation_type, twin.to_entity) = (g.from_entity, g.key, g.to_entity)
    ), judged as materialized (
        select s.*,
            case
                when not s.housed then 'homeless'
                when s.there and not s.theirs then 'another'
                when s.there or s.turn > 1 then 'known'
                when s.undone then 'undone'
                when s.twin is not null then 'known'
                else 'added'
            end as outcome
        from seen s
    ), single as materialized (
        select j.*,
            case when j.outcome = 'added' and j.live
                then first_value(j.id) over (partition by j.space, j.from_entity, j.key, j.to_entity, j.live, j.outcome order by j.place)
                else j.id end as first
        from judged j
    ), made as (
        insert into relation (space_id, id, from_entity, relation_type, label, to_entity, strength, valid_from, valid_until,
                              author_id, client, tool, request, created_at)
        select s.space, s.id, s.from_entity, s.key, nullif(s.label, s.key), s.to_entity, s.strength, s.valid_from, s.valid_until,
            s.author_id, s.client, s.tool, s.request, s.created_at
        from single s where s.outcome = 'added' and s.first = s.id
        returning space_id, from_entity, to_entity, created_at
    ), touched as (
        update entity e set updated_at = latest.at
        from (select ends.space_id, ends.id, max(ends.at) as at
              from (select m.space_id, m.from_entity as id, m.created_at as at from made m
                    union all select m.space_id, m.to_entity, m.created_at from made m) ends
              group by 1, 2) latest
        where e.space_id = latest.space_id and e.id = latest.id and e.updated_at < latest.at
    )
    select s.place, coalesce(s.twin, s.first), case when s.first <> s.id then 'known' else s.outcome end
    from single s;
end
$$;

comment on function textrawl.import_relations is
    'Adds relations of an export; for each line its place, the id under which the relation is here, and added, known, another, homeless (an entity is missing) or undone. Error TR013: not the owner.';
