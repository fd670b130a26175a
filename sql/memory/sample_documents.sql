create function textrawl.sample_documents(percent double precision)
returns table (space_id integer, fts tsvector)
language plpgsql volatile
set search_path from current
as $$
begin
    return query execute format(
        'select o.space_id, o.fts from %s o tablesample system (%s)', stored_table('observation'), percent);
end
$$;

comment on function textrawl.sample_documents is
    'The words of a random sample of all facts, in percent of the pages of the table.';
