create function textrawl.entry_excerpt(
    content text, part text, granularity text,
    words text[],           -- of the query, in lower case
    out excerpt text,       -- the whole text, or its title and the best bullets
    out short_excerpt text  -- the title and the best bullet, at most 400 characters
)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    most  integer := case granularity when 'significant' then 10000 else 2000 end;
    title text := substring(content from '^\s*(#{1,6}\s[^\n]*)');
begin
    with item as materialized (
        -- entry_items() would take ten times as long, and most bullets have one line.
        select row_number() over (order by i.number) as number, i.text, (
            select count(*) from unnest(words) word where strpos(lower_case, word) > 0) as hits
        from string_to_table(part, E'\n') with ordinality i (text, number)
        cross join lateral (select lower(i.text) as lower_case offset 0) l
        where i.text !~ '^\s*$' and i.text is distinct from title
    ), best as (
        select number from item order by hits desc, number limit 1
    )
    select string_agg(left(i.text, case when i.number = best.number then most - 700 else 300 end), E'\n' order by i.number),
        string_agg(left(i.text, 400), E'\n' order by i.number) filter (where i.number = best.number)
    into excerpt, short_excerpt
    from item i join best on i.number between best.number - 1 and best.number + 1;
    excerpt := case when char_length(content) <= most then content else left(concat_ws(E'\n\n', title, excerpt), most) end;
    short_excerpt := case when char_length(content) <= 400 then content
        else left(concat_ws(E'\n\n', left(title, 100), short_excerpt), 400) end;
end
$$;

comment on function textrawl.entry_excerpt is
    'The text that a search shows of an entry. An entry of up to 2,000 characters (significant: 10,000) is shown whole. Of '
    'a longer entry, the text has the title, the bullet of the best part with the most words of the query, and the bullets '
    'before and after this bullet. '
    'Example: select excerpt from textrawl.entry_excerpt(''- Tea'', ''- Tea'', ''daily'', array[''tea'']);';
