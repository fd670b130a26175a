create function textrawl.create_space(name text) returns textrawl.space
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    created space;
begin
    perform require_owner();
    insert into space (name) values (create_space.name) returning * into created;
    return created;
exception
    when unique_violation then
        raise exception using errcode = 'TR021', message = format('the space %s exists already', create_space.name),
            detail = coalesce(create_space.name, '');
    when check_violation or not_null_violation then
        raise exception using errcode = 'TR024',
            message = 'the name of a space has 1 to 63 characters of a-z, 0-9, - and _ and begins with a letter or digit',
            detail = coalesce(left(create_space.name, 200), '');
end
$$;

comment on function textrawl.create_space is
    'Create a space; until grant_access() only the owner can read and write it. Errors: TR013 not the owner, TR021 it '
    'exists already, TR024 no name for a space. '
    'Example: select name from textrawl.create_space(name => ''team'');';
