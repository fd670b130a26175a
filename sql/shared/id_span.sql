create function textrawl.id_span(reference text, out first uuid, out last uuid)
language sql immutable parallel safe
begin atomic
    select rpad(digits, 32, '0')::uuid, rpad(digits, 32, 'f')::uuid
    from replace(reference, '-', '') as digits
    where textrawl.is_fact_id(reference) and char_length(digits) between 8 and 32;
end;

comment on function textrawl.id_span is
    'The first and the last id that begin with the given 8 or more characters. Null if no id begins like this. '
    'Example: select first from textrawl.id_span(''8081eaf7'');';
