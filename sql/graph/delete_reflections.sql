create function textrawl.delete_reflections(
    numbers bigint[],
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    number bigint,
    deleted boolean  -- false if there was no such reflection
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin            origin := open_write(credential, space, 'forget', client, tool, request);
    forgotten         record;
    forgotten_numbers bigint[] := '{}';
begin
    perform claim_removal();
    for forgotten in
        -- Lock in the order of ids, because forget_entity() locks the reflections about an entity in this order.
        select f.id, f.entity_id, f.relation_id from reflection f
        where f.space_id = origin.space_id and f.id in (
            select n.id from unnest(numbers) input cross join lateral number_range(input) range
            join reflection n on n.space_id = origin.space_id and n.id between range.first and range.last)
        order by f.id for update
    loop
        delete from reflection f where f.space_id = origin.space_id and f.id = forgotten.id;
        forgotten_numbers := forgotten_numbers || node_number(forgotten.id);
        perform record_event('forgotten', forgotten.entity_id, null, forgotten.relation_id, origin,
                             jsonb_build_object('facts', 0, 'relations', 0, 'reflections', 1, 'reflection', forgotten.id));
    end loop;
    return query select input, input = any(forgotten_numbers) from unnest(numbers) input;
end
$$;

comment on function textrawl.delete_reflections is
    'Forget reflections by their numbers. Errors: TR010 to TR012 (access). '
    'Example: select * from textrawl.delete_reflections(array[42]);';
