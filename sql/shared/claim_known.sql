create function textrawl.claim_known(space integer, names text[]) returns uuid[]
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    held  uuid[];
    found uuid[];
begin
    loop
        -- Lock in the order of names, like every writer.
        with locked as (
            select e.id from entity e
            where e.space_id = claim_known.space and e.name_key in (select entity_key(claim_known.space, n) from unnest(names) n)
            order by e.name_key for update
        )
        select coalesce(array_agg(l.id), '{}') into held from locked l;
        -- Look again, because another session can have merged, split or renamed an entity before this session got the lock.
        found := array(
            select e.id from unnest(names) with ordinality n (name, place)
            left join entity e on e.space_id = claim_known.space and e.name_key = entity_key(claim_known.space, n.name)
            order by n.place);
        exit when array_remove(found, null) <@ held;
    end loop;
    return found;
end
$$;

comment on function textrawl.claim_known is
    'The entities with these names or aliases, in this order, locked until the transaction ends. Null for a name that '
    'no entity has.';
