create function textrawl.claim_proposed(space integer, proposals uuid[]) returns jsonb
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    mention record;
    claimed record;
    created jsonb := '{}';
begin
    for mention in
        select distinct on (key) m.*
        from (
            select entity_key(p.space_id, p.entity_name) as key, p.entity_name as name, p.entity_type as type, p.id, p.created_at, p.author_id, p.client,
                p.tool, p.request
            from proposal p where p.space_id = claim_proposed.space and p.id = any(proposals) and p.kind in ('fact', 'relation')
            union all
            -- A finding has the ids of its entities, or of facts of them. Missing ones are not created.
            select e.name_key, e.name, null, p.id, p.created_at, p.author_id, p.client, p.tool, p.request
            from proposal p
            left join observation o on o.space_id = p.space_id and o.id = p.one
            join entity e on e.space_id = p.space_id and e.id in (coalesce(o.entity_id, p.one), p.other)
            where p.space_id = claim_proposed.space and p.id = any(proposals) and p.kind in ('merge', 'end', 'pin')
            union all
            select entity_key(p.space_id, p.to_name), p.to_name, p.to_type, p.id, p.created_at, p.author_id, p.client, p.tool, p.request
            from proposal p where p.space_id = claim_proposed.space and p.id = any(proposals) and p.to_key is not null
            union all
            -- A relation can end others. Their targets are locked too.
            select t.name_key, t.name, null, p.id, p.created_at, p.author_id, p.client, p.tool, p.request
            from proposal p
            join entity s on s.space_id = p.space_id and s.name_key = entity_key(p.space_id, p.entity_name)
            join relation r on r.space_id = s.space_id and r.from_entity = s.id
                and r.relation_type = relation_key(p.relation_type) and r.valid_until is null
            join entity t on t.space_id = r.space_id and t.id = r.to_entity
            where p.space_id = claim_proposed.space and p.id = any(proposals) and p.replaces_edges) m
        order by key, created_at, id
    loop
        claimed := claim_entity(mention.name, mention.type, row(
            claim_proposed.space, mention.author_id, mention.client, mention.tool, mention.request, false)::origin);
        if claimed.created then
            created := jsonb_set(created, array[mention.id::text], coalesce(created -> mention.id::text, '[]')
                || to_jsonb(currval(pg_get_serial_sequence('textrawl.event', 'id'))));
        end if;
    end loop;
    return created;
end
$$;

comment on function textrawl.claim_proposed is
    'Lock the entities of proposals in the order of their names, so that two writers cannot deadlock. Create the missing '
    'ones in the name of the author of the first proposal about them. Return the events of these creations, {proposal: [event]}.';
