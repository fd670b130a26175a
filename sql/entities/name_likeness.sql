create function textrawl.name_likeness(one text, other text) returns double precision
language sql immutable strict parallel safe
set search_path from current
begin atomic
    with form as (
        select regexp_split_to_array(btrim(regexp_replace(textrawl.name_key(one), '[^[:alnum:]]+', ' ', 'g')), ' ') as words,
            regexp_split_to_array(btrim(regexp_replace(textrawl.name_key(other), '[^[:alnum:]]+', ' ', 'g')), ' ') as others
    ), squeezed as (
        select words, others,
            array(select m[1] from regexp_matches(array_to_string(words, ' '), '[0-9]+', 'g') m) as numbers,
            array(select m[1] from regexp_matches(array_to_string(others, ' '), '[0-9]+', 'g') m) as other_numbers,
            array_to_string(words, '') as text, array_to_string(others, '') as other_text,
            left(words[1], 1) || words[cardinality(words)] as short, left(others[1], 1) || others[cardinality(others)] as other_short
        from form
    )
    -- The part of their trigrams that two names share finds spelling mistakes. The other cases are the usual short forms:
    -- other order or punctuation, an initial with the last name, and some of the words.
    select case when s.numbers <> s.other_numbers and s.numbers <> '{}' and s.other_numbers <> '{}' then 0 else greatest(
        (select count(*)::double precision / nullif((
                select count(*) from (
                    select substr('  ' || s.text || ' ', n, 3) from generate_series(1, char_length(s.text) + 1) n
                    union select substr('  ' || s.other_text || ' ', n, 3) from generate_series(1, char_length(s.other_text) + 1) n) every), 0)
         from (select substr('  ' || s.text || ' ', n, 3) from generate_series(1, char_length(s.text) + 1) n
               intersect select substr('  ' || s.other_text || ' ', n, 3) from generate_series(1, char_length(s.other_text) + 1) n) shared),
        case when s.text = s.other_text or s.words @> s.others and s.words <@ s.others then 1
            when cardinality(s.words) > 1 and cardinality(s.others) = 1 and s.short = s.other_text
                or cardinality(s.others) > 1 and cardinality(s.words) = 1 and s.other_short = s.text then 0.8
            when s.words @> s.others or s.words <@ s.others then 0.6 else 0 end) end
    from squeezed s where s.text <> '' and s.other_text <> '';
end;

comment on function textrawl.name_likeness is
    'How alike two names are, from 0 to 1: the part of their trigrams that they share, or more if one is a usual short '
    'form of the other. Names with different numbers, such as two versions of a program, are not alike. '
    'Example: select textrawl.name_likeness(''Jeff Miller'', ''jmiller'');';
