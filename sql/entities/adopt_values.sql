create function textrawl.adopt_values(space integer, one textrawl.entity, other textrawl.entity) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    update entity e set description = coalesce(e.description, (other).description)
    where e.space_id = space and e.id = (one).id;
    if (one).type_guessed and not (other).type_guessed then
        update entity e set entity_type = (other).entity_type, type_guessed = false,
            metadata = e.metadata || (other).metadata - 'retyped'
        where e.space_id = space and e.id = (one).id;
        update observation o set entity_type = (other).entity_type, repository = fact_repository((other).entity_type, o.repository)
        where o.space_id = space and o.entity_id = (one).id and o.entity_type <> (other).entity_type;
    end if;
    insert into graph_node
    select copy.* from graph_node n
    cross join lateral jsonb_populate_record(
        null::graph_node, to_jsonb(n) || jsonb_build_object('entity_id', (one).id, 'label', null, 'label_key', null)) copy
    where n.space_id = space and n.entity_id = (other).id and n.deleted_at is null
    on conflict do nothing;
end
$$;

comment on function textrawl.adopt_values is
    'Give an entity what it lacks of another entity before a merge: a stated type, a description, values of a node.';
