create function textrawl.retype_entity(
    entity text, type text,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out entity_id uuid, out entity_name text, out entity_type text
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    entity_id := (claim_named(array[retype_entity.entity], origin))[1];
    perform retype_node(entity_id, retype_entity.type, origin);
    select e.name, free_type(e.entity_type, e.metadata) into entity_name, entity_type
    from entity e where e.space_id = origin.space_id and e.id = entity_id;
end
$$;

comment on function textrawl.retype_entity is
    'Set the type of an entity, as its authors state it. A word that is none of the seven types is kept, and the nearest '
    'type stands for it. Needs the scopes read and write. Errors: TR010 to TR012 (access), TR050 (no such entity). '
    'Example: select * from textrawl.retype_entity(''Jeff'', ''person'');';
