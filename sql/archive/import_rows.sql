create function textrawl.import_rows(lines jsonb, kind text) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- null if ids of the kind are text
    outcome text    -- added, known (by its key), or homeless (the row that it belongs to is missing)
)
language plpgsql volatile security definer
set search_path from current
as $$
declare
    target constant text := case kind
        when 'memory' then 'retention' when 'link' then 'memory_link' when 'instance' then 'instance'
        when 'snapshot' then 'identity_snapshot' when 'node' then 'graph_node' when 'edge' then 'graph_edge'
        when 'dismissal' then 'dismissal' end;
    key    constant text := case kind
        when 'memory' then 'observation_id' when 'node' then 'entity_id' when 'edge' then 'relation_id' else 'id' end;
    names  text;
begin
    perform require_owner();
    perform register_actors(array(select g.author from jsonb_to_recordset(lines) g(author text) where g.author is not null));
    -- In a cell of a cluster, the table is a view, which can have a column xmax.
    select string_agg(quote_ident(attname), ', ') into names from pg_attribute
    where attrelid = to_regclass(target) and attnum > 0 and not attisdropped and attname <> 'xmax';
    return query execute format($query$
        with input as materialized (
            select (line ->> 'place')::integer as place, line ->> 'space' as space, line ->> 'id' as id,
                import_row(line, $2) as row
            from jsonb_array_elements($1) line
        ), inserted as (
            insert into %1$I as t (%2$s)
            select %2$s
            from (select distinct on (i.space, i.id) i.row from input i where i.row is not null
                  order by i.space, i.id, i.place) first
            cross join jsonb_populate_record(null::%1$I, first.row)
            on conflict do nothing
            returning t.space_id::text as space, t.%3$I::text as id
        )
        select i.place, case when $2 not in ('instance', 'snapshot') then i.id::uuid end,
            case when i.row is null then 'homeless'
                when n.id is not null and row_number() over (partition by i.space, i.id order by i.place) = 1 then 'added'
                else 'known' end
        from input i left join inserted n using (space, id)$query$, target, names, key)
    using lines, kind;
end
$$;

comment on function textrawl.import_rows is
    'Import rows that belong to facts, entities, relations or documents: memories, links, instances, snapshots, dismissed '
    'candidates, and the values of nodes and edges. Error TR013: not the owner.';
