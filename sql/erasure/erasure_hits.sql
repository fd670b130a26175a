create function textrawl.erasure_hits(
    space integer, pattern text, entities uuid[], actors integer[],
    before timestamptz default null  -- only rows that are known to be older; null: all rows
) returns table (
    kind text, key text,
    own boolean,    -- the person wrote the row; null: the row has no author
    about boolean,  -- the row is about the person, or names the person
    redacted boolean, sample text
)
language plpgsql stable
set search_path from current
as $$
declare
    t record;
begin
    for t in
        select h.name, h.key, p.redacted, case when p.redacted then 'false' else coalesce(h.about, 'false') end as condition,
            -- Of a row that can be deleted, also the author's columns are emptied only if they name the person.
            case when p.redacted and h.texts is not null then 'null::integer' else coalesce(h.author, 'null::integer') end as writer,
            case when p.texts = '' then quote_literal('') else 'concat_ws(E''\n'', ' || p.texts || ')' end as text,
            exists (select from pg_attribute c where c.attrelid = stored_table(h.name) and c.attname = 'created_at') as dated
        from content_tables() h cross join lateral (values (h.texts, false), (h.emptied, true)) p (texts, redacted)
        where p.texts is not null
    loop
        return query execute format(
            'select %L, f.key, f.own, f.about, %L::boolean, left(regexp_replace(f.text, ''\s+'', '' '', ''g''), 120) from ('
            '  select (%s)::text as key, case when (%s) is not null then (%s) = any($3) end as own, coalesce((%s), false) or names_person(%s, $4) as about, %s as text'
            '  from %I where space_id = $2 and ($5 is null or %s)) f where f.own or f.about',
            t.name, t.redacted, t.key, t.writer, t.writer, t.condition, t.text, t.text, t.name,
            case when t.dated then 'created_at < $5' else 'false' end)
        using entities, erasure_hits.space, actors, pattern, before;
    end loop;
end
$$;

comment on function textrawl.erasure_hits is
    'The rows of a space that are by or about a person or name the person, as content_tables() says.';
