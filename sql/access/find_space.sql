create function textrawl.find_space(name text) returns integer
language plpgsql stable parallel safe security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    found_id integer;
begin
    select id into found_id from space where space.name = find_space.name;
    -- Only the owner gets an error here. Other callers get null, and a later check refuses them like callers without
    -- rights. So they cannot learn which spaces exist.
    if found_id is null and owns_memory() then
        raise exception using errcode = 'TR020', message = format('there is no space %s', find_space.name),
            detail = coalesce(find_space.name, '');
    end if;
    return found_id;
end
$$;

comment on function textrawl.find_space is
    'The id of a space, archived or not. If there is no such space, the owner gets error TR020. Other callers get '
    'null, and then the check of their rights refuses the call.';
