create function textrawl.read_rows(statement text, most_rows integer default 1000, most_bytes integer default 1000000)
returns table (
    names text[], cells text[],
    line text,    -- the row as JSON
    more boolean  -- true in the last row if the statement has more rows
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
    -- A function that is stable can open a cursor only for one query that writes nothing.
    open answer for execute statement;
    loop
        fetch answer into found_row;
        exit when not found;
        line := row_to_json(found_row);
        place := place + 1;
        bytes := bytes + octet_length(line);
        more := place > most_rows or bytes > most_bytes;
        select array_agg(key), array_agg(value) into names, cells from json_each_text(line::json);
        if more then
            names := null;
        end if;
        return next;
        exit when more;
    end loop;
end
$$;

comment on function textrawl.read_rows is
    'The rows of a statement that only reads: one SELECT, WITH, VALUES or TABLE, with the rights of the caller, as names '
    'and texts of the columns. It ends after most_rows rows or most_bytes bytes, and its last row then says that there '
    'are more. Errors: TR077 (a word that is not accepted). '
    'Example: select cells from textrawl.read_rows(''select name from memory_entities'', most_rows => 10);';
