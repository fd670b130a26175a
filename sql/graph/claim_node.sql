create function textrawl.claim_node(
    name text, type text, moment timestamptz, origin textrawl.origin,
    out id uuid, out stored_name text, out created boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted_key text := name_key(claim_node.name);
    nearest    text := nearest_type(type);
    label      text := nullif(coalesce(type, 'Generic'), nearest);
begin
    select e.id, e.name into id, stored_name
    from entity e where e.space_id = origin.space_id and e.name_key = wanted_key for no key update;
    created := id is null;
    if created then
        insert into entity as e (space_id, name, name_key, entity_type, type_guessed, metadata, fts, created_at, updated_at)
        values (origin.space_id, claim_node.name, wanted_key, nearest, type is null,
                case when label is null then '{}' else jsonb_build_object('type', label) end,
                to_tsvector('simple', search_text(claim_node.name)), moment, moment)
        on conflict (space_id, name_key) do update set name = e.name
        returning e.id, e.name, e.xmax = 0 into id, stored_name, created;
    end if;
    if created then
        perform record_event('created', id, null, null, origin);
    end if;
end
$$;

comment on function textrawl.claim_node is
    'Return an entity, create it under a free type if it is missing, and lock it until the transaction ends. For an '
    'existing entity, retype_node() sets the type.';
