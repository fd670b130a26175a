create function textrawl.set_description(
    entity text, description text,
    model integer default null, embedding halfvec default null,  -- the vector of the description
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out entity_id uuid, out entity_name text
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    entity_id := (claim_named(array[set_description.entity], origin))[1];
    select e.name into entity_name from entity e where e.space_id = origin.space_id and e.id = entity_id;
    perform describe_node(entity_id, jsonb_build_object('description_id', state_description(
        entity_id, set_description.description, (select m.id from embedding_model m where m.id = set_description.model),
        set_description.embedding, origin)), origin);
end
$$;

comment on function textrawl.set_description is
    'Set the description of an entity. It is a fact of the entity, which replaces the former description, so searches find '
    'it. Needs the scopes read and write. Errors: TR010 to TR012 (access), TR050 (no such entity). '
    'Example: select * from textrawl.set_description(''Jeff'', ''head of the QA team in Riga'');';
