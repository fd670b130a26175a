create function textrawl.claim_named(names text[], origin textrawl.origin) returns uuid[]
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    found  uuid[];
    wanted text;
begin
    -- Lock in the order of names, like every writer.
    perform from entity e
    where e.space_id = origin.space_id and e.name_key in (select entity_key(origin.space_id, n) from unnest(names) n)
    order by e.name_key for update;
    foreach wanted in array names loop
        found := found || (
            select e.id from entity e where e.space_id = origin.space_id and e.name_key = entity_key(origin.space_id, wanted));
        if found[cardinality(found)] is null then
            raise exception using errcode = 'TR050', message = 'no such entity', detail = wanted;
        end if;
    end loop;
    return found;
end
$$;

comment on function textrawl.claim_named is
    'The entities with these names or aliases, in this order, locked until the transaction ends. Error TR050: no such '
    'entity.';
