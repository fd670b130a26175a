create function textrawl.claim_lists(language text) returns jsonb
language sql immutable strict parallel safe
begin atomic
    select case language
        when 'german' then textrawl.german_claims() when 'french' then textrawl.french_claims()
        when 'spanish' then textrawl.spanish_claims() when 'portuguese' then textrawl.portuguese_claims()
        when 'italian' then textrawl.italian_claims() else textrawl.english_claims() end;
end;

comment on function textrawl.claim_lists is
    'The words of a language by which disagreement() reads facts, from the file of this language: {kind: words and '
    'phrases}. Example: select textrawl.claim_lists(''english'') ->> ''not'';';
