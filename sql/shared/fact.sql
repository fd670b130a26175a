create view textrawl.fact with (security_invoker) as
select * from textrawl.observation where relation_id is null;

comment on view textrawl.fact is
    'The rows of observation that are facts, without the statements of relations. Functions that list or count facts read it. '
    'Example: select content from textrawl.fact f where textrawl.is_valid(f.valid_from, f.valid_until, f.closed_at);';

-- The view has the columns of the table. Copy their comments, so that each comment is written only once.
do $$
declare
    of_table record;
begin
    for of_table in
        select a.attname as name, col_description(a.attrelid, a.attnum) as comment from pg_attribute a
        where a.attrelid = 'textrawl.observation'::regclass and a.attnum > 0 and not a.attisdropped
    loop
        execute format('comment on column textrawl.fact.%I is %L', of_table.name, of_table.comment);
    end loop;
end
$$;
