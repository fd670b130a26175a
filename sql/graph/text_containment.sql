create function textrawl.text_containment(one text, other text) returns double precision
language sql immutable strict parallel safe
begin atomic
    with word as (
        select side, array_agg(distinct bare) as words
        from (values ('short', case when char_length(one) <= char_length(other) then one else other end),
                     ('long', case when char_length(one) <= char_length(other) then other else one end)) as texts(side, content),
            regexp_split_to_table(textrawl.fold_case(content), '\s+') as token,
            regexp_replace(token, '^[[:punct:]]+|[[:punct:]]+$', '', 'g') as bare
        where bare <> '' group by side
    )
    select coalesce((
        select count(*) filter (where w = any(coalesce((select words from word where side = 'long'), '{}')))::double precision
            / nullif(count(*), 0)
        from word, unnest(words) w where side = 'short'), 1);
end;

comment on function textrawl.text_containment is
    'The share of the shorter text''s words that the longer text contains; 1 if the shorter text has no words. '
    'Example: select textrawl.text_containment(''FastMCP'', ''Stack: FastMCP + SQLite'');';
