create function textrawl.read_rows(statement text, most_rows integer default 1000, most_bytes integer default 1000000)
returns table (
    names text[], cells text[],
    line text,    -- the row as JSON
    more boolean  -- true in a last row that is empty, if the statement has more rows
)
language plpgsql stable
set search_path = textrawl, pg_temp
as $$
#variable_conflict use_column
declare
    forbidden text[] := find_forbidden(statement);
    answer refcursor;
    found_row record;
    place integer := 0;
    bytes bigint := 0;
begin
    if forbidden is not null then
        raise exception using errcode = 'TR077', message = 'this word is not accepted in a statement',
            detail = array_to_string(forbidden, ', ');
    end if;
    -- A function that is stable can open a cursor only for one query that writes nothing. In the statement, the table
    -- with the names of all actors is hidden by a name without columns. Views read the table itself.
    open answer for execute 'with actor as (select) (' || rtrim(statement, E' \t\r\n;') || E'\n)';
    loop
        fetch answer into found_row;
        exit when not found;
        line := row_to_json(found_row);
        place := place + 1;
        bytes := bytes + octet_length(line);
        more := place > most_rows or bytes > most_bytes;
        if more then
            line := '';
        end if;
        select coalesce(array_agg(key), '{}'), coalesce(array_agg(value), '{}') into names, cells
        from json_each_text(case when not more then line::json end);
        return next;
        exit when more;
    end loop;
end
$$;

comment on function textrawl.read_rows is
    'The rows of a statement that only reads: one SELECT, WITH, VALUES or TABLE, with the rights of the caller, as names '
    'and texts of the columns. It ends after most_rows rows or most_bytes bytes, and its last row then says that there '
    'are more. The table actor cannot be read. Errors: TR077 (a word that is not accepted). '
    'Example: select cells from textrawl.read_rows(''select name from memory_entities'', most_rows => 10);';
