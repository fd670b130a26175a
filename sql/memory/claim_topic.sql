create function textrawl.claim_topic(content text, language text) returns text
language sql immutable parallel safe
begin atomic
    select case when predicate = 'attr' then concat_ws(' ', predicate, array_to_string(subject, ' '))
        when predicate not in ('', 'be', 'has', 'like', 'prefer', 'event', 'many') and predicate not like 'v:%' then predicate end
    from textrawl.read_claim(content, language);
end;

comment on function textrawl.claim_topic is
    'The question that a fact answers and that has one answer at a time, such as home or work; null if it has none. '
    'Example: select textrawl.claim_topic(''moved to Berlin in March'', ''english'');';
