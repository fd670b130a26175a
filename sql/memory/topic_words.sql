create function textrawl.topic_words(content text, language text) returns text[]
language sql stable parallel safe
begin atomic
    -- Two facts of the same thing at different times mostly differ in a number.
    select array(select word from unnest(tsvector_to_array(to_tsvector(language::regconfig, textrawl.search_text(content)))) word
                 where word !~ '[0-9]');
end;

comment on function textrawl.topic_words is
    'The stems of a fact without numbers, by which it is compared with other facts. '
    'Example: select textrawl.topic_words(''weighs 84 kg'', ''english'');';
