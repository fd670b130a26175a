create function textrawl.forget_facts(
    entity text, facts text[],  -- ids or texts
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns integer  -- number of deleted facts
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    fact text;
begin
    foreach fact in array facts loop
        perform forget_entity(entity, fact, credential => credential, space => space, client => client, tool => tool, request => request);
    end loop;
    return cardinality(facts);
end
$$;

comment on function textrawl.forget_facts is
    'Delete several facts of an entity as forget_entity() does, all or none. Errors: as forget_entity(). '
    'Example: select textrawl.forget_facts(''Jeff'', array[''prefers dark mode'']);';
