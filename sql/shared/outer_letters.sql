create function textrawl.outer_letters(content text) returns text
language sql immutable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it. The lists have all white
    -- space of ASCII.
    select case when octet_length(content) = char_length(content)
        then lower((left(ltrim(content, E' \t\n\v\f\r\x1c\x1d\x1e\x1f'), 1)
            || right(rtrim(content, E'. \t\n\v\f\r\x1c\x1d\x1e\x1f'), 1)) collate "C") end;
end;

comment on function textrawl.outer_letters is
    'The first and the last letter of a text of ASCII, without white space and full stops; null for another text. If '
    'two texts differ in outer_letters(), they also differ in spelling_key(), which takes longer. '
    'Example: select textrawl.outer_letters(''The flag is  -N.'');';
