create function textrawl.delete_reflections(
    numbers bigint[],
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (number bigint, deleted boolean)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'forget', client, tool, request);
    gone   record;
    found  bigint[] := '{}';
begin
    perform claim_removal();
    for gone in
        -- In the order of ids, like whoever forgets an entity that they name.
        select f.id, f.entity_id, f.relation_id from reflection f
        where f.space_id = origin.space_id and f.id in (
            select n.id from unnest(numbers) given cross join lateral number_range(given) range
            join reflection n on n.space_id = origin.space_id and n.id between range.first and range.last)
        order by f.id for update
    loop
        delete from reflection f where f.space_id = origin.space_id and f.id = gone.id;
        found := found || node_number(gone.id);
        perform record_event('forgotten', gone.entity_id, null, gone.relation_id, origin,
                             jsonb_build_object('facts', 0, 'relations', 0, 'reflections', 1, 'reflection', gone.id));
    end loop;
    return query select given, given = any(found) from unnest(numbers) given;
end
$$;

comment on function textrawl.delete_reflections is
    'Forgets reflections by their numbers; for each whether there was one. Errors: TR010 to TR012 (access). Example: select * from textrawl.delete_reflections(array[42]);';
