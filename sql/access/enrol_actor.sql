create function textrawl.enrol_actor(name text) returns integer
language plpgsql volatile
set search_path from current
as $$
begin
    if name is null or btrim(name) <> name or char_length(name) not between 1 and 200 then
        raise exception using errcode = 'TR025', message = 'an actor''s name has 1 to 200 characters, no space around them',
            detail = coalesce(left(name, 200), '');
    end if;
    return register_actor(name);
end
$$;

comment on function textrawl.enrol_actor is
    'The id of somebody who is let in, created when new. Error TR025: no name.';
