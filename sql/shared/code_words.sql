create function textrawl.code_words(input text) returns text
language sql immutable strict parallel safe
begin atomic
    -- The first seven characters of a hexadecimal id, as people quote commits; ERR-4711 also as err4711; the digits of a
    -- telephone number. A date is no telephone number.
    select case when input !~ '[0-9]' then '' else coalesce((
        select string_agg(word, ' ') from (
            select left(lower(found[1]), 7) from regexp_matches(input, '\m([0-9a-fA-F]{8,64})\M', 'g') found
            where found[1] ~ '[0-9]' and found[1] ~ '[a-fA-F]'
            union all
            select found[1] || found[2] from regexp_matches(input, '\m([A-Za-z]{2,10})[-_]([0-9]{2,10})\M', 'g') found
            union all
            select textrawl.phone_digits(found[1])
            from regexp_matches(input, '(?<![0-9])((?:\+|\(?0)[0-9 ()/.-]{7,}[0-9])', 'g') found) extra(word)), '') end;
end;

comment on function textrawl.code_words is
    'Other spellings of the ids, codes and telephone numbers in a text, for the text index. '
    'Example: select textrawl.code_words(''fixed ERR-4711 in 3f2a9c1d7b'');';
