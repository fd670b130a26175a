create function textrawl.rename_space(name text, new_name text) returns textrawl.space
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    renamed space;
begin
    perform require_owner();
    update space set name = new_name where id = find_space(rename_space.name) returning * into renamed;
    return renamed;
exception
    when unique_violation then
        raise exception using errcode = 'TR021', message = format('the space %s exists already', new_name), detail = coalesce(new_name, '');
    when check_violation or not_null_violation then
        raise exception using errcode = 'TR024',
            message = 'the name of a space must have 1 to 63 characters (only a-z, 0-9, - and _) and must begin with a letter or digit',
            detail = coalesce(left(new_name, 200), '');
end
$$;

comment on function textrawl.rename_space is
    'Rename a space. Grants, tokens and facts stay. URLs with the old name stop working. Errors: TR013 (not the '
    'owner), TR020 (no such space), TR021 (the name is taken), TR024 (not a valid name of a space). '
    'Example: select textrawl.rename_space(name => ''team'', new_name => ''core-team'');';
