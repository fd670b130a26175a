create function textrawl.claim_ends(source textrawl.entity, edges uuid[], origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- Lock the entities in the order of their names, like every writer.
    perform claim_entity(n.name, free_type(n.entity_type, n.metadata), origin)
    from (
        select e.name, e.entity_type, e.metadata from entity e
        where e.space_id = source.space_id and (e.id = source.id or e.id in (
            select unnest(array[r.from_entity, r.to_entity]) from relation r
            where r.space_id = source.space_id and r.id = any(edges)))
        order by entity_key(origin.space_id, e.name)) n;
end
$$;

comment on function textrawl.claim_ends is
    'Find or create an entity and the other ends of its relations in another space, by name and type, and lock them.';
