create function textrawl.disagreement(one text, other text, language text default 'english') returns text
language plpgsql immutable parallel safe
set search_path from current
as $$
declare
    a      jsonb;
    b      jsonb;
    spoken text;
begin
    if one is null or other is null or one = other then
        return null;
    end if;
    a := make_claim(one, language);
    b := make_claim(other, language);
    if a ->> 'language' <> b ->> 'language' then
        -- A text without a word of any list takes the language of the other one.
        spoken := a ->> 'language';
        a := make_claim(one, b ->> 'language');
        b := make_claim(other, spoken);
    end if;
    return compare_claims(a, b);
end
$$;

comment on function textrawl.disagreement is
    'Whether two facts about one entity disagree: other value (only one of the two can be true now), opposite, or null. '
    'Facts that can be true side by side do not disagree. The rules are words and grammar of English, German, French, '
    'Spanish, Portuguese and Italian. The language decides for a text that has words of none, or of several. '
    'Example: select textrawl.disagreement(''lives in Munich'', ''moved to Berlin in March 2025'');';
