create function textrawl.profile_kind(content text) returns text
language sql immutable parallel safe
begin atomic
    select case
        when folded ~ '\m(prefer(s|red)?|likes?|dislikes?|loves?|hates?|wants?|always|never|favou?rites?|bevorzugt|mag|moechte|liebt|hasst|immer|nie|lieblings\w*|prefere|aime|adore|deteste|veut|toujours|jamais|favori(te)?s?|prefiere|gusta|odia|quiere|siempre|nunca|favorit[oa]s?)\M|好き|好む|嫌い|苦手'
            or folded ~ '\m(does not|doesn''t|do not|don''t) (eat|drink|use|want|like)\M' then 'preference'
        when folded ~ '\m(is called|named|name is|nicknamed?|pronouns?|goes by|heisst|spitzname|s''appelle|surnom|se llama|apodo)\M|呼ばれ|名前は' then 'name'
        when folded ~ '[?？]\s*$'
            or folded ~ '\m((works?|working) on|todo|to do|must|ha(s|ve) to|needs? to|plan(s|ned)? to|waits? for|waiting for|deadline|due|arbeitet an|muss|plant|wartet auf|travaille sur|doit|prevoit|trabaja en|debe|tiene que|planea)\M|締め切り|予定' then 'work'
    end
    -- Writers omit accents and sharp letters.
    from (select replace(textrawl.strip_accents(lower(replace(replace(profile_kind.content, 'ö', 'oe'), '’', ''''))), 'ß', 'ss') as folded) text;
end;

comment on function textrawl.profile_kind is
    'The kind of a fact about a person that a digest for this person shows first: preference, name or work (still to do). '
    'Null: any other fact. It looks for words of English, German, French, Spanish and Japanese. '
    'Example: select textrawl.profile_kind(''prefers short answers'');';
