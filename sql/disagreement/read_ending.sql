create function textrawl.read_ending(said text, kinds jsonb, stemmer regdictionary, named boolean) returns jsonb
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable strict parallel safe
as $$
declare
    marks  constant jsonb := kinds -> ' marks';
    found  jsonb := '{}';  -- of each kind of mark, its first words in the text
    here   jsonb;          -- the same of one word
    mark   jsonb;
    plain  text := textrawl.strip_accents(said);
    phrase text;
    changed text;
    words  text[] := string_to_array(said, ' ');
    bare   text[] := string_to_array(plain, ' ');  -- the same without accents
    spelt  text;
    word   text;
    kind   text;
    role   text := 'o';
    what   text[] := '{}';
    roles  text[] := '{}';
    sure   boolean;
begin
    -- No query and no regular expressions: Postgres keeps 32 compiled ones, and compiling those of a language takes milliseconds.
    for place in 1 .. cardinality(bare) loop
        here := '{}';
        for number in 0 .. coalesce(jsonb_array_length(marks -> bare[place]), 0) - 1 loop
            mark := marks -> bare[place] -> number;
            for gap in 0 .. (mark ->> 'gap')::integer loop
                if array_to_string(bare[place + gap + 1:place + gap + (mark ->> 'more')::integer], ' ') = mark ->> 'rest' then
                    here := here || jsonb_build_object(mark ->> 'kind', array_to_string(bare[place:place + gap + (mark ->> 'more')::integer], ' '));
                end if;
            end loop;
        end loop;
        found := here || found;
    end loop;
    phrase := coalesce(found ->> 'ends', found ->> 'over');
    changed := found ->> 'now';
    if coalesce(phrase, changed) is null and not found ? 'lent' then
        return null;
    end if;
    sure := found ? 'ends' and not found ? 'also' and (named or found ? 'the');
    for place in 1 .. cardinality(words) loop
        word := words[place];
        spelt := bare[place];
        -- The verb is the first and the last word of the phrase.
        continue when spelt in (split_part(phrase, ' ', 1), split_part(phrase, ' ', -1), changed) or coalesce(marks -> spelt @> '[{"kind": "idle", "more": 0}]', false);
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
        'thing', nullif(marks -> split_part(substr(plain, position(coalesce(phrase, changed) in plain) + char_length(coalesce(phrase, changed))), ' ', 2)
            @> '[{"kind": "the", "more": 0}]', false),
        'now', nullif(not found ? 'also' and changed is not null, false), 'lent', nullif(found ? 'lent', false), 'back', nullif(found ? 'back', false)));
end
$$;

comment on function textrawl.read_ending is
    'What a fact says to be over, by its words: {by: the words that end, what: stems of its other words, roles: the '
    'preposition before each, sure, thing: the words that end have an object, as in moved the piano, now: it says that something changed, lent: it is to be given back, back: it was given back}. Null: it has no '
    'word that ends, changes or lends. make_claim() stores it as "ends".';
