create function textrawl.nearest_type(type text) returns text
language sql immutable parallel safe
begin atomic
    -- Try the words from the last to the first, because the last word says most: a TeamMember is a member.
    with word as (
        select word, place from regexp_split_to_table(
            textrawl.fold_case(textrawl.plain_text(regexp_replace(coalesce(type, ''), '([a-z0-9])([A-Z])', '\1 \2', 'g'))),
            '[^[:alnum:]]+') with ordinality as found(word, place)
    )
    select coalesce((
        select known.entity_type from word
        join textrawl.type_words() known on known.word in (word.word, regexp_replace(word.word, 'e?s$', ''), regexp_replace(word.word, 's$', ''))
        order by word.place desc, known.word = word.word desc limit 1), 'concept');
end;

comment on function textrawl.nearest_type is
    'The entity type (one of the seven) that is nearest to a free type; "concept" if none of the seven is near. '
    'Example: select textrawl.nearest_type(''TeamMember'');';
