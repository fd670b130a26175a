create function textrawl.has_stranger(
    query text, unknown tsquery[],  -- the words of the query that no fact has
    languages text[], spaces integer[]
)
returns boolean
language sql stable parallel safe
begin atomic
    -- In English, only a name has a capital letter inside a sentence, and words have no accents. Skip a capitalized
    -- word if a known word has the same beginning and about the same length: it can be misspelt (Nortwind, Northwind).
    select exists (
        select from regexp_matches(query, '\s["''(]?([[:upper:]][[:alnum:]]*)', 'g') as capital (text)
        cross join lateral to_tsvector('english', text[1]) document
        where exists (select from unnest(unknown) term where document @@ term)
          and char_length(text[1]) > 2
          and text[1] !~ '^(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*$'
          and not exists (
            select from textrawl.lexeme l
            where l.word >= left(lower(text[1]), 4) and l.word < left(lower(text[1]), 4) || '~' and l.space_id = any(spaces)
              and abs(char_length(l.word) - char_length(text[1])) <= 2))
    where languages = array['english'] and unknown is not null and query ~ '[[:lower:]]'
        and query !~ '[^\u0001-\u007f‘’“”]';
end;

comment on function textrawl.has_stranger is
    'True if a query has a name that no fact has, such as of a person whom the memory does not know. It is a word with a '
    'capital letter that is not the first word. '
    'Example: select textrawl.has_stranger(''where does Zelda live'', array[''zelda'']::tsquery[], array[''english''], array[1]);';
