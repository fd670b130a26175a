create function textrawl.register_actor(name text default session_user) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    found_id integer;
begin
    select id into found_id from actor where actor.name = register_actor.name;
    if found_id is null then
        perform register_actors(array[register_actor.name]);
        select id into found_id from actor where actor.name = register_actor.name;
    end if;
    return found_id;
end
$$;

comment on function textrawl.register_actor is
    'Return the id of an actor, and create the actor if it is new. '
    'Example: select textrawl.register_actor(''ana'');';
