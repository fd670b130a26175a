create function textrawl.copy_relations(
    giver integer, edges uuid[], origin textrawl.origin,
    moving boolean,
    out number bigint
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    target integer := origin.space_id;
    detail jsonb := case when moving then '{"move": true}' else '{}' end;
    plan   jsonb;
begin
    with edge as (
        select r.id, r.relation_type, r.valid_until, f.id as copied_from, t.id as copied_to,
            row_number() over (order by r.created_at, r.id) as place, gen_random_uuid() as fresh,
            (select k.id from relation k
             where k.space_id = target and k.from_entity = f.id and k.relation_type = r.relation_type
               and k.to_entity = t.id and k.valid_until is null) as known
        from relation r
        join entity s on s.space_id = giver and s.id = r.from_entity
        join entity d on d.space_id = giver and d.id = r.to_entity
        -- The inner selects compute each key once. Otherwise Postgres could compute it for every entity of the space.
        cross join lateral (
            select e.id from entity e
            where e.space_id = target and e.name_key = (select entity_key(target, s.name)) limit 1) f
        cross join lateral (
            select e.id from entity e
            where e.space_id = target and e.name_key = (select entity_key(target, d.name)) limit 1) t
        where r.space_id = giver and r.id = any(edges) and (f.id = t.id) = (s.id = d.id)
    ), paired as (
        -- Two entities of the source can be one entity of the target. Then two relations can become the same one.
        select e.id, e.copied_from, e.copied_to, e.place, e.fresh,
            coalesce(e.known, (array_agg(e.fresh) filter (where e.valid_until is null) over earlier)[1]) as twin
        from edge e
        window earlier as (
            partition by e.copied_from, e.relation_type, e.copied_to order by e.place
            rows between unbounded preceding and 1 preceding)
    )
    select coalesce(jsonb_agg(to_jsonb(p) || jsonb_build_object('copy', coalesce(p.twin, p.fresh))), '[]')
    into plan from paired p;
    insert into relation
    select copy.*
    from jsonb_to_recordset(plan) p (id uuid, copied_from uuid, copied_to uuid, copy uuid, twin uuid)
    join relation r on r.space_id = giver and r.id = p.id
    cross join lateral jsonb_populate_record(r, jsonb_build_object(
        'space_id', target, 'id', p.copy, 'from_entity', p.copied_from, 'to_entity', p.copied_to)) copy
    where p.twin is null;
    update observation o set origin = find_origin(given.origin, given.tool, given.client, given.source)
    from jsonb_to_recordset(plan) p (id uuid, copy uuid, twin uuid)
    join observation given on given.space_id = giver and given.id = p.id
    where p.twin is null and o.space_id = target and o.id = p.copy;
    number := (select count(*) from jsonb_to_recordset(plan) p (twin uuid) where p.twin is null);
    perform record_event(case when p.twin is null then 'shared' else 'repeated' end, p.copied_from, null, p.copy, origin,
                         detail || jsonb_build_object('to', p.copied_to))
    from jsonb_to_recordset(plan) p (copied_from uuid, copied_to uuid, place bigint, copy uuid, twin uuid)
    order by p.place;
end
$$;

comment on function textrawl.copy_relations is
    'Copy relations to another space, with their authors, origins and dates. The caller has called claim_ends(). A '
    'relation that is there already is not stored again.';
