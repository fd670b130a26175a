create function textrawl.first_person(languages text[]) returns text
language sql immutable strict parallel safe
begin atomic
    -- Words that mean the speaker. The words of `unambiguous` mean nothing else in any of the four languages, so they
    -- count in spaces of all languages. Those of `ambiguous` count only in a space of their own language, because
    -- another language or a name has them: Mir, mes (Spanish: month), ours (French: bear), mi (Italian).
    with declared (language, unambiguous, ambiguous) as (
        values
            ('english', 'me my myself we our ourselves', 'us ours'),
            ('german', 'ich mich mein meine meinem meinen meiner meines wir uns unser unsere unserem unseren unserer unseres', 'mir meins'),
            ('french', 'je moi nous mien mienne miens miennes nôtre nôtres', 'mon ma mes notre nos'),
            ('spanish', 'conmigo nosotros nosotras nuestro nuestra nuestros nuestras mí mío mía míos mías', 'yo mi mis nos')
    ), word as (
        select unnest(string_to_array(
            unambiguous || case when language = any(languages) then ' ' || ambiguous else '' end, ' ')) as text
        from declared
    )
    select '(?<![[:alnum:]À-ɏ_+#@/-])(?<![[:alnum:]À-ɏ][.''’])(?:(?:' || string_agg(text, '|' order by text)
        -- A word counts in lower case, or with a capital letter at the beginning of a sentence.
        || '|(?<=^[^[:alnum:]]*|[.?!][^[:alnum:]]*)(?:' || string_agg(upper(left(text, 1)) || substr(text, 2), '|' order by text) || ')'
        -- `I` does not count after another word with a capital letter (World War I), `i` not in a loop, `mine` not as a noun.
        || case when 'english' = any(languages) then
            '|(?<![[:upper:]][[:alnum:]]*[[:space:]]+|(?:for|[[:digit:]])[[:space:]]+)[Ii]'
            '|(?<=(?:Am|As|Because|But|Can|Could|Did|Do|Had|Have|How|If|Is|May|Might|Must|Shall|Should|Since|So|That|Was|What|When'
            '|Where|Which|While|Who|Whom|Whose|Why|Will|Would)[[:space:]]+)I'
            '|(?<=\m(?:of|is|are|was|were|be)[[:space:]]+)mine' else '' end
        || ')(?:[''’](?:m|re|ve|d|ll))?(?![[:alnum:]À-ɏ_+#@/''’-]|[.][[:alnum:]À-ɏ])'
        || case when 'french' = any(languages) then '|[jJm][''’](?=[[:alnum:]À-ɏ])' else '' end || ')'
    from word;
end;

comment on function textrawl.first_person is
    'The regular expression that finds the words of a query that mean the person who asks, such as I, my and our, in '
    'English, German, French and Spanish. '
    'Example: select regexp_replace(''where is my bike'', textrawl.first_person(array[''english'']), ''Jeff'', ''g'');';
