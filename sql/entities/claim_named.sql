create function textrawl.claim_named(names text[], origin textrawl.origin) returns uuid[]
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    found uuid[] := claim_known(origin.space_id, names);
begin
    if array_position(found, null) is not null then
        raise exception using errcode = 'TR050', message = 'no such entity', detail = names[array_position(found, null)];
    end if;
    return found;
end
$$;

comment on function textrawl.claim_named is
    'The entities with these names or aliases, in this order, locked until the transaction ends. Error TR050: no such '
    'entity.';
