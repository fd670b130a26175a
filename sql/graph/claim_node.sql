create function textrawl.claim_node(
    name text, type text, moment timestamptz, origin textrawl.origin,
    out id uuid, out stored_name text, out created boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    nearest text := nearest_type(type);
    label   text := nullif(coalesce(type, 'Generic'), nearest);
begin
    select c.id, c.stored_name, c.created into id, stored_name, created
    from claim_entity(
        claim_node.name, case when type is not null then nearest end, origin,
        case when label is not null then jsonb_build_object('type', label) end, moment) c;
end
$$;

comment on function textrawl.claim_node is
    'Return an entity, create it with a free type if it is missing, and lock it until the transaction ends. If the '
    'entity exists, retype_node() sets its type.';
