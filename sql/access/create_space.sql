create function textrawl.create_space(
    name text, language text default 'english',
    tier text default null,  -- public, personal or sensitive: the space is a graph; null: the space holds facts
    recall_tokens integer default null  -- most tokens of the graph in one answer; null: the default of its tier
) returns textrawl.space
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    created space;
begin
    perform require_owner();
    perform check_tier(create_space.tier, create_space.recall_tokens);
    insert into space (name, language, tier, recall_tokens)
    values (create_space.name, require_language(create_space.language), create_space.tier, create_space.recall_tokens)
    returning * into created;
    return created;
exception
    when unique_violation then
        raise exception using errcode = 'TR021', message = format('the space %s exists already', create_space.name),
            detail = coalesce(create_space.name, '');
    when check_violation or not_null_violation then
        raise exception using errcode = 'TR024',
            message = 'the name of a space must have 1 to 63 characters (only a-z, 0-9, - and _) and must begin with a letter or digit',
            detail = coalesce(left(create_space.name, 200), '');
end
$$;

comment on function textrawl.create_space is
    'Create a space. Only the owner can read and write it until grant_access() is called. Errors: TR013 (not the '
    'owner), TR021 (the space exists already), TR024 (not a valid name of a space), '
    'TR033 (this Postgres does not have the language), TR061 (not a valid tier or number of tokens). '
    'Example: select name from textrawl.create_space(name => ''team'');';
