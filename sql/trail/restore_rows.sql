create function textrawl.restore_rows(name text, rows jsonb) returns void
language plpgsql volatile
set search_path from current
as $$
declare
    kept jsonb;
begin
    for kept in select value from jsonb_array_elements(rows) where value <> 'null' loop
        begin
            execute format('insert into textrawl.%1$I select r.* from jsonb_populate_record(null::textrawl.%1$I, $1) r on conflict do nothing', name)
            using kept;
        exception when foreign_key_violation then
            -- What the row belongs to was stored again meanwhile under another id, or forgotten. The newer values stay.
            null;
        end;
    end loop;
end
$$;

comment on function textrawl.restore_rows is
    'Insert rows of a table that an undo keeps, except those that are there again and those that belong to nothing any more.';
