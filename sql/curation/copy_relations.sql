create function textrawl.copy_relations(
    giver integer, edges uuid[], origin textrawl.origin,
    moving bigint,  -- the move, or null
    out number bigint,
    out copies jsonb  -- {id in the source: id in the target}
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    target integer := origin.space_id;
    detail jsonb := case when moving is null then '{}' else jsonb_build_object('move', moving) end;
    edge   record;
    known  uuid;
    copy   uuid;
begin
    copies := '{}'; number := 0;
    for edge in
        select r.*, f.id as copied_from, t.id as copied_to
        from relation r
        join entity s on s.space_id = giver and s.id = r.from_entity
        join entity d on d.space_id = giver and d.id = r.to_entity
        -- The inner selects compute each key once. Otherwise Postgres could compute it for every entity of the space.
        cross join lateral (
            select e.id from entity e where e.space_id = target and e.name_key = (select entity_key(target, s.name)) limit 1) f
        cross join lateral (
            select e.id from entity e where e.space_id = target and e.name_key = (select entity_key(target, d.name)) limit 1) t
        where r.space_id = giver and r.id = any(edges) and (f.id = t.id) = (s.id = d.id) order by r.created_at, r.id
    loop
        known := (select r.id from relation r
                  where r.space_id = target and r.from_entity = edge.copied_from and r.relation_type = edge.relation_type
                    and r.to_entity = edge.copied_to and r.valid_until is null);
        if known is null then
            insert into relation (
                space_id, from_entity, relation_type, label, to_entity, strength, valid_from, valid_until,
                author_id, client, tool, request, created_at)
            values (target, edge.copied_from, edge.relation_type, edge.label, edge.copied_to, edge.strength, edge.valid_from,
                    edge.valid_until, edge.author_id, edge.client, edge.tool, edge.request, edge.created_at)
            returning id into copy;
            number := number + 1;
        else
            copy := known;
        end if;
        copies := copies || jsonb_build_object(edge.id::text, copy);
        perform record_event(case when known is null then 'shared' else 'repeated' end, edge.copied_from, null, copy, origin,
                             detail || jsonb_build_object('to', edge.copied_to));
    end loop;
end
$$;

comment on function textrawl.copy_relations is
    'Copy relations to another space, with their authors, origins and dates. The caller has called claim_ends(). A '
    'relation that is there already is not stored again.';
