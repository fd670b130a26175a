create function textrawl.create_space(name text) returns textrawl.space
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    made space;
begin
    perform require_owner();
    insert into space (name) values (create_space.name) returning * into made;
    return made;
exception
    when unique_violation then
        raise exception using errcode = 'TR021', message = format('there is a space %s already', create_space.name), detail = coalesce(create_space.name, '');
    when check_violation or not_null_violation then
        raise exception using errcode = 'TR024', message = 'a space''s name has 1 to 63 of a-z, 0-9, - and _, a letter or digit first',
            detail = coalesce(left(create_space.name, 200), '');
end
$$;

comment on function textrawl.create_space is
    'Makes a space, which nobody but the owner may read or write before grant_access. Errors: TR013 not the owner, TR021 there is one already, TR024 no name for a space. Example: select name from textrawl.create_space(name => ''team'');';
