create function textrawl.nearest_type(type text) returns text
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable parallel safe
as $$
declare
    known constant jsonb := textrawl.type_words();  -- read once in a session
begin
    -- Try the words from the last to the first, because the last word says most: a TeamMember is a member.
    return coalesce((
        select known ->> form.word
        from regexp_split_to_table(
            textrawl.fold_case(textrawl.plain_text(regexp_replace(coalesce(type, ''), '([a-z0-9])([A-Z])', '\1 \2', 'g'))),
            '[^[:alnum:]]+') with ordinality as given (word, place),
            lateral (values (given.word, 1), (regexp_replace(given.word, 'e?s$', ''), 2),
                            (regexp_replace(given.word, 's$', ''), 3)) form (word, attempt)
        where known ? form.word
        order by given.place desc, form.attempt limit 1), 'concept');
end
$$;

comment on function textrawl.nearest_type is
    'The entity type (one of the seven) that is nearest to a free type; "concept" if none of the seven is near. '
    'Example: select textrawl.nearest_type(''TeamMember'');';
