create function textrawl.import_rows(lines jsonb, kind text) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- null if ids of the kind are text
    outcome text    -- added, known (by its key, or the fact of a revision is valid here), homeless (the row that it belongs
                    -- to is missing), another (a reflection with another text has this id) or undone (an undo keeps it)
)
language plpgsql volatile security definer
set search_path from current
as $$
declare
    target text;
    key    text;
begin
    select t.name, t.key into target, key from content_tables() t where t.kind = import_rows.kind;
    perform require_owner();
    perform register_actors(array(select g.author from jsonb_to_recordset(lines) g(author text) where g.author is not null));
    return query execute format($query$
        with input as materialized (
            select (line ->> 'place')::integer as place, line ->> 'space' as space, line ->> 'id' as id,
                import_row(line, $2) as row
            from jsonb_array_elements($1) line
        ), inserted as (
            insert into %1$I as t
            select stored.*
            from (select distinct on (i.space, i.id) i.row from input i where not i.row ? 'outcome'
                  order by i.space, i.id, i.place) first
            cross join jsonb_populate_record(null::%1$I, first.row) stored
            on conflict do nothing
            returning t.space_id::text as space, t.%2$I::text as id
        )
        select i.place, case when $2 not in ('instance', 'snapshot') then i.id::uuid end,
            case when i.row is null then 'homeless' when i.row ? 'outcome' then i.row ->> 'outcome'
                when n.id is not null and row_number() over (partition by i.space, i.id order by i.place) = 1 then 'added'
                else 'known' end
        from input i left join inserted n using (space, id)$query$, target, key)
    using lines, kind;
end
$$;

comment on function textrawl.import_rows is
    'Import lines of a kind whose rows only have to be stored: revisions, reflections, memories, links, instances, snapshots, '
    'dismissed candidates, pins, and the values of nodes and edges. Error TR013: not the owner.';
