create function textrawl.name_form(name text) returns table (
    words text[],     -- lower case, without punctuation
    squeezed text,    -- the words without spaces
    short text,       -- the initial of the first word, with the last word
    numbers text[], trigrams text[]
)
language sql immutable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it.
    -- "offset 0" keeps the planner from repeating an expression at every place that uses it.
    select text.words, text.squeezed, left(text.words[1], 1) || text.words[cardinality(text.words)],
        array(select found[1] from regexp_matches(text.spaced, '[0-9]+', 'g') found),
        array(select distinct substr('  ' || text.squeezed || ' ', n, 3) from generate_series(1, char_length(text.squeezed) + 1) n)
    from (
        select string_to_array(apart.words, ' ') as words, apart.words as spaced,
            replace(apart.words, ' ', '') as squeezed
        from (select btrim(regexp_replace(textrawl.name_key(name_form.name), '[^[:alnum:]]+', ' ', 'g')) as words offset 0) apart
        offset 0) text;
end;

comment on function textrawl.name_form is
    'The forms of a name that compare_forms() compares. '
    'Example: select words, short from textrawl.name_form(''Miller, Jeff'');';
