create function textrawl.claim_live_edge(edge uuid, origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- Lock the entities in the order of their names, as all writers do.
    perform from entity e
    where e.space_id = origin.space_id and e.id in (
        select unnest(array[r.from_entity, r.to_entity]) from relation r
        where r.space_id = origin.space_id and r.id = claim_live_edge.edge)
    order by e.name_key for no key update;
    perform from edge_states(origin.space_id) s where s.relation_id = claim_live_edge.edge and s.deleted_at is null;
    if not found then
        raise exception using errcode = 'TR083', message = 'no such edge', detail = claim_live_edge.edge::text;
    end if;
end
$$;

comment on function textrawl.claim_live_edge is
    'Lock both entities of an edge until the transaction ends. Error TR083: there is no such edge, or it was deleted.';
