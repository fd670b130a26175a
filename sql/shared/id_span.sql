create function textrawl.id_span(reference text, out first uuid, out last uuid)
language sql immutable parallel safe
begin atomic
    -- Use `case`, because the planner computes constants before it checks a condition, and so would cast any text.
    select case when textrawl.is_fact_id(reference) and char_length(digits) between 8 and 32 then rpad(digits, 32, '0')::uuid end,
        case when textrawl.is_fact_id(reference) and char_length(digits) between 8 and 32 then rpad(digits, 32, 'f')::uuid end
    from replace(reference, '-', '') as digits;
end;

comment on function textrawl.id_span is
    'The first and the last id that begin with the given 8 or more characters. Null if no id begins like this. '
    'Example: select first from textrawl.id_span(''8081eaf7'');';
