create function textrawl.enrol_actor(name text) returns integer
language plpgsql volatile
set search_path from current
as $$
begin
    if name is null or btrim(name) <> name or char_length(name) not between 1 and 200 then
        raise exception using errcode = 'TR025', message = 'the name of an actor has 1 to 200 characters and no space at either end',
            detail = coalesce(left(name, 200), '');
    end if;
    return register_actor(name);
end
$$;

comment on function textrawl.enrol_actor is
    'Return the id of an actor, and create the actor if it is new. Error TR025: not a valid name of an actor.';
