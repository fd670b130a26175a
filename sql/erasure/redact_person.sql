create function textrawl.redact_person(space integer, pattern text, actors integer[]) returns void
language plpgsql volatile
set search_path from current
as $$
declare
    t record;
begin
    for t in
        select h.name, string_agg(format('%1$I = case when names_person(%1$I::text, $2) or %2$s then %3$s else %1$I end', a.attname, h.own, a.value), ', ') as changes,
            string_agg(format('names_person(%1$I::text, $2) or %2$s and %1$I is not null', a.attname, h.own), ' or ') as condition
        from (select name, emptied, case when author is null or texts is not null then 'false' else format('(%s) = any($3)', author) end as own
              from content_tables()
              union all
              -- Clients state their own names and the ids of their requests.
              select name, 'client, request, repository, anchors', 'false' from content_tables()) h
        cross join lateral (
            select c.attname, case
                when h.name = 'event' and c.attname = 'detail' then
                    '(select jsonb_object_agg(d.key, case when names_person(d.value::text, $2) then ''"[erased]"'' else d.value end) from jsonb_each(detail) d)'
                when not c.attnotnull then 'null'
                when c.atttypid = 'jsonb'::regtype then '''{}''' else '''[erased]''' end as value
            from pg_attribute c where c.attrelid = stored_table(h.name) and c.attname = any(string_to_array(h.emptied, ', '))) a
        group by h.name, h.emptied
    loop
        execute format('update %I set %s where space_id = $1 and (%s)', t.name, t.changes, t.condition)
        using redact_person.space, pattern, actors;
    end loop;
end
$$;

comment on function textrawl.redact_person is
    'Empty the columns that name a person in the rows that an erasure keeps. The trail keeps its events, without the '
    'details that name the person. Only the transaction that stored a receipt may change them: see the table erasure.';
