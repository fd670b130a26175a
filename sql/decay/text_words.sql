create function textrawl.text_words(text text) returns text[]
language sql immutable parallel safe
begin atomic
    select array(select distinct found[1] from regexp_matches(textrawl.fold_case(text), '\w{3,}', 'g') found);
end;

comment on function textrawl.text_words is
    'The different words of a text that have three characters or more, in lower case. '
    'Example: select textrawl.text_words(''Use JWT tokens'');';
