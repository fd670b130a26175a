create function textrawl.find_alias(space integer, name text) returns uuid
language plpgsql stable parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted text := name_key(find_alias.name);
begin
    return (select a.id from entity_alias a
            where a.space_id = find_alias.space and a.name_key = wanted and a.removed_at is null);
end
$$;

comment on function textrawl.find_alias is
    'The id of an alias; null if the name is not an alias. The trail keeps the id, so that a split knows which facts '
    'were written about the merged entity. '
    'Example: select textrawl.find_alias(1, ''JMiller'');';
