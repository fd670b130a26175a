create function textrawl.claim_node(
    name text, type text, moment timestamptz, origin textrawl.origin,
    out id uuid, out stored_name text, out created boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted  text := name_key(claim_node.name);
    nearest text := nearest_type(type);
    label   text := nullif(coalesce(type, 'Generic'), nearest);
    known   entity;
begin
    select * into known from entity e
    where e.space_id = origin.space_id and e.name_key = wanted for no key update;
    if known.id is null then
        insert into entity as e (space_id, name, name_key, entity_type, metadata, fts, created_at, updated_at)
        values (origin.space_id, claim_node.name, wanted, nearest,
                case when label is null then '{}' else jsonb_build_object('type', label) end,
                to_tsvector('simple', search_text(claim_node.name)), moment, moment)
        on conflict (space_id, name_key) do update set name = e.name
        returning e.id, e.name, e.xmax = 0 into id, stored_name, created;
        if created then
            perform record_event('created', id, null, null, origin);
            return;
        end if;
        select * into known from entity e where e.space_id = origin.space_id and e.id = claim_node.id;
    end if;
    id := known.id; stored_name := known.name; created := false;
    if type is not null and type <> coalesce(known.metadata ->> 'type', known.entity_type) then
        update entity e set entity_type = nearest,
            metadata = case when label is null then e.metadata - 'type' else e.metadata || jsonb_build_object('type', label) end
        where e.space_id = origin.space_id and e.id = known.id;
        update observation o set entity_type = nearest
        where o.space_id = origin.space_id and o.entity_id = known.id and o.entity_type <> nearest;
        perform record_event('retyped', id, null, null, origin);
    end if;
end
$$;

comment on function textrawl.claim_node is
    'Gets or creates an entity under a free type, and keeps other writers of it waiting until the transaction ends; a given type takes the place of the former, null leaves it.';
