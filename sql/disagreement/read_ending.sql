create function textrawl.read_ending(said text, language text, kinds jsonb, stemmer regdictionary, named boolean) returns jsonb
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable parallel safe
as $$
declare
    marks  text[];
    plain  text := textrawl.strip_accents(said);
    phrase text;
    changed text;
    words  text[];
    spelt  text;
    word   text;
    kind   text;
    role   text := 'o';
    what   text[] := '{}';
    roles  text[] := '{}';
    open   boolean;
    sure   boolean;
begin
    if language = 'german' then marks := textrawl.claim_marks('german');
    elsif language = 'french' then marks := textrawl.claim_marks('french');
    elsif language = 'spanish' then marks := textrawl.claim_marks('spanish');
    elsif language = 'portuguese' then marks := textrawl.claim_marks('portuguese');
    elsif language = 'italian' then marks := textrawl.claim_marks('italian');
    else marks := textrawl.claim_marks('english');
    end if;
    if plain !~ marks[1] then
        return null;
    end if;
    phrase := substring(plain from marks[2]);
    open := plain ~ marks[5];
    sure := phrase is not null and not open and (named or plain ~ marks[7]);
    phrase := coalesce(phrase, substring(plain from marks[3]));
    changed := substring(plain from marks[4]);
    words := string_to_array(said, ' ');
    for place in 1 .. cardinality(words) loop
        word := words[place];
        spelt := textrawl.strip_accents(word);
        -- The verb is the first and the last word of the phrase.
        continue when spelt in (split_part(phrase, ' ', 1), split_part(phrase, ' ', -1), changed) or spelt ~ ('^' || marks[8] || '$');
        kind := kinds ->> word;
        exit when kind in ('@since', '@until', '@because', '@after', '@before');
        if kind like '@%' then
            role := kind;
        elsif kind = 'id' and words[place + 1] ~ '^#?[0-9]' then
            what := what || (coalesce((ts_lexize(stemmer, word))[1], word) || ' ' || words[place + 1]);
            roles := roles || coalesce(role, '-');
            words[place + 1] := '';
        elsif word = '' then
            null;
        elsif kind is null and word ~ '[0-9]' or kind ~ '^#' then
            sure := false;
        elsif kind = 'indefinite' then
            -- Whom it was given to, such as a neighbour, says nothing about what it was.
            sure := sure and role <> 'o';
            role := case when role = 'o' then role end;
        elsif role is not null and (kind is null or kind !~ '^(-|not|be|has|past|%.*)$') then
            what := what || coalesce((ts_lexize(stemmer, word))[1], word);
            roles := roles || role;
        end if;
    end loop;
    return jsonb_strip_nulls(jsonb_build_object(
        'by', phrase, 'what', what, 'roles', roles, 'sure', nullif(sure, false),
        'thing', nullif(substr(plain, position(coalesce(phrase, changed) in plain) + char_length(coalesce(phrase, changed))) ~ ('^ ' || marks[7]), false),
        'now', nullif(not open and changed is not null, false), 'lent', nullif(plain ~ marks[6], false), 'back', nullif(plain ~ marks[9], false)));
end
$$;

comment on function textrawl.read_ending is
    'What a fact says to be over, by its words: {by: the words that end, what: stems of its other words, roles: the '
    'preposition before each, sure, thing: the words that end have an object, as in moved the piano, now: it says that something changed, lent: it is to be given back, back: it was given back}. Null: it has no '
    'word that ends, changes or lends. make_claim() stores it as "ends".';
