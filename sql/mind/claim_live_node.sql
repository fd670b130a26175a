create function textrawl.claim_live_node(node uuid, origin textrawl.origin, for_removal boolean default false)
returns textrawl.entity
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    claimed entity;
begin
    -- A removal also changes the entities at the other ends of relations. Lock all of them in the order of names, as
    -- all writers do.
    perform from entity e
    where e.space_id = origin.space_id and (
        e.id = claim_live_node.node
        or for_removal and e.id in (
            select unnest(array[r.from_entity, r.to_entity]) from relation r
            where r.space_id = origin.space_id and claim_live_node.node in (r.from_entity, r.to_entity)))
    order by e.name_key for no key update;
    select e.* into claimed from entity e
    where e.space_id = origin.space_id and e.id = claim_live_node.node and not exists (
        select from graph_node n where n.space_id = e.space_id and n.entity_id = e.id and n.deleted_at is not null);
    if claimed.id is null then
        raise exception using errcode = 'TR080', message = 'no such node', detail = claim_live_node.node::text;
    end if;
    return claimed;
end
$$;

comment on function textrawl.claim_live_node is
    'Lock the entity of a node until the transaction ends. Error TR080: there is no such node, or it was deleted.';
