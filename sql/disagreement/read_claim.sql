create function textrawl.read_claim(
    content text, default_language text default 'english',
    out language text,
    out subject text[],      -- stems before the predicate
    out named boolean,       -- the subject is one word with a capital, perhaps the name of the entity
    out predicate text,      -- a kind of claim_words(), or v: and the stem of a verb
    out negative boolean,
    out past boolean,        -- it was so, and is no longer
    out event boolean,
    out indefinite boolean,  -- the value is not a name: a flat
    out roles text[],        -- of each item: o (object), time, or a preposition
    out items text[],        -- stems after the predicate; # before a number, % before a part of a date
    out ending jsonb         -- what it ends, as read_ending() returns it
)
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable strict parallel safe
as $$
declare
    known    constant jsonb := textrawl.claim_languages();
    spoken   text := '';  -- the letters of the languages of all words
    languages constant text[] := '{english,german,french,spanish,portuguese,italian}';
    missing  integer[];   -- the letters that are not of each language
    least_missing integer;
    kinds    jsonb;
    written  text[];
    spelt    text[];
    words    text[] := '{}';  -- without those that say nothing
    folded   text[] := '{}';
    count    integer;
    place    integer := 1;
    width    integer;
    word     text;
    kind     text;
    class    text;
    item     text;
    job      boolean := false;
    pending  text;     -- the kind of a noun before the predicate
    role     text := 'o';
    stemmer  regdictionary;
begin
    subject := '{}'; named := false; predicate := ''; negative := false; past := false; event := false; indefinite := false;
    roles := '{}'; items := '{}';
    content := replace(replace(replace(normalize(left(content, 240), nfc), '’', ''''), 'can''t', 'can not'), 'n''t', ' not');
    -- Replace no single spaces, because this would take most of the time.
    content := regexp_replace(content, '\m(l|d|j|n|s|m|c|qu|t)''(?=\w)|''(?=s\M)|[;!?()"“”«»…`*]|(?! )\s|[.,](?=\s|$)', '\1 ', 'gi');
    written := array_remove(string_to_array(regexp_replace(content, ':(?=\s|$)', ' = ', 'g'), ' '), '');
    if cardinality(written) not between 1 and 24 then
        return;
    end if;
    spelt := string_to_array(textrawl.fold_case(array_to_string(written, ' ')), ' ');
    foreach word in array spelt loop
        spoken := spoken || coalesce(known ->> word, '') || case when octet_length(word) = char_length(word) then ''
            else coalesce(known ->> textrawl.strip_accents(word), '') end;
    end loop;
    -- No query here, which would take longer than all else.
    missing := array[
        char_length(replace(spoken, 'e', '')), char_length(replace(spoken, 'd', '')), char_length(replace(spoken, 'f', '')),
        char_length(replace(spoken, 's', '')), char_length(replace(spoken, 'p', '')), char_length(replace(spoken, 'i', ''))];
    least_missing := least(missing[1], missing[2], missing[3], missing[4], missing[5], missing[6]);
    language := case when missing[array_position(languages, default_language)] = least_missing then default_language
        else languages[array_position(missing, least_missing)] end;
    -- In an expression of its own, a language is read only if it is spoken.
    if language = 'german' then kinds := textrawl.claim_words('german');
    elsif language = 'french' then kinds := textrawl.claim_words('french');
    elsif language = 'spanish' then kinds := textrawl.claim_words('spanish');
    elsif language = 'portuguese' then kinds := textrawl.claim_words('portuguese');
    elsif language = 'italian' then kinds := textrawl.claim_words('italian');
    else kinds := textrawl.claim_words('english');
    end if;
    stemmer := case language when 'german' then 'pg_catalog.german_stem'::regdictionary when 'french' then 'pg_catalog.french_stem'
        when 'spanish' then 'pg_catalog.spanish_stem' when 'portuguese' then 'pg_catalog.portuguese_stem'
        when 'italian' then 'pg_catalog.italian_stem' else 'pg_catalog.english_stem' end;
    foreach word in array spelt loop
        if kinds ->> word is distinct from '-' then
            words := words || written[place];
            folded := folded || word;
        end if;
        place := place + 1;
    end loop;
    count := cardinality(folded);
    place := 1;

    while place <= count loop
        word := folded[place];
        width := 1;
        kind := kinds ->> word;
        if kinds ? (word || ' ') then
            for size in reverse 3 .. 2 loop
                if place + size - 1 <= count and kinds ? array_to_string(folded[place:place + size - 1], ' ') then
                    kind := kinds ->> array_to_string(folded[place:place + size - 1], ' ');
                    width := size;
                    exit;
                end if;
            end loop;
        end if;
        if word in ('may', 'march') and words[place] = word and language = 'english' then
            kind := null;
        elsif kind = '@on' and place = count and predicate = 'be' then
            kind := '+on';
        end if;
        class := ltrim(rtrim(kind, '<'), '!+');
        item := null;
        if kind is null then
            if word ~ '^[$€£#]?[0-9]' then
                item := case when word ~ '^([0-9]{1,2}:[0-9]{2}|[0-9]{4}-[0-9]{2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}|[0-9]{1,2}(am|pm|uhr|h))'
                                  or items[cardinality(items)] like '\%m%'
                                  or role <> 'o' and word ~ '^(19|20)[0-9]{2}$' then '%' else '#' end || ltrim(word, '$€£#');
            else
                item := coalesce((ts_lexize(stemmer, word))[1], word);
                event := event or predicate = '' and word ~ case language
                    when 'english' then '..[^e]ed$' when 'german' then 'te$' when 'spanish' then '(ó|aron|ieron)$' when 'portuguese' then '(ou|aram|eram)$' else '^$' end;
            end if;
        elsif kind = 'indefinite' then
            indefinite := indefinite or predicate <> '' and items = '{}';
        elsif kind = 'not' then
            negative := true;
        elsif kind like '@%' then
            role := kind;
        elsif kind ~ '^[#%]' then
            item := kind;
            if kind like '\%m%' and items[cardinality(items)] like '#%' then
                items[cardinality(items)] := '%' || substr(items[cardinality(items)], 2);
                roles[cardinality(items)] := case when role in ('o', '@at', '@on', '@for') then 'time' else role end;
            end if;
        elsif kind in ('be', 'has', 'past', 'event', 'many', 'when') then
            past := past or kind = 'past';
            event := event or kind = 'event';
            if predicate = '' or predicate = 'has' and kind in ('many', 'when', 'event') or predicate = 'be' and kind = 'when' then
                if predicate = '' then
                    subject := items; items := '{}'; roles := '{}'; role := 'o';
                end if;
                predicate := case when kind = 'past' or kind = 'be' then coalesce(pending, 'be') when kind = 'has' then kind
                    when kind = 'when' then 'when:' || word
                    else 'v:' || coalesce((ts_lexize(stemmer, word))[1], word) end;
                if kind = 'past' and word not in ('was', 'were', 'war', 'waren', 'etait', 'était', 'fue', 'era', 'estaba', 'had') then
                    predicate := ''; items := subject; subject := '{}';
                    roles := array_fill('o'::text, array[cardinality(items)]);
                end if;
            elsif kind in ('many', 'event', 'when') then
                item := coalesce((ts_lexize(stemmer, word))[1], word);
            end if;
        elsif kind like 'n:%' and predicate = '' then
            pending := substr(kind, 3);
        elsif kind in ('attr', 'id', 'job') or kind like 'n:%' then
            job := job or predicate = 'be' and (kind = 'job' or role = 'o' and kind in ('attr', 'n:boss'));
            pending := case when kind = 'attr' and predicate = '' then coalesce(pending, 'attr') else pending end;
            item := coalesce((ts_lexize(stemmer, word))[1], word);
            if kind = 'id' and folded[place + 1] ~ '^#?[0-9]' then
                item := item || ' ' || folded[place + 1];
                width := 2;
            end if;
        elsif predicate in ('', 'be') or predicate = 'has' and class not in ('name', 'prefer', 'position', 'lead')
                and not (language = 'english' and kind ~ '^[+!]') then
            if predicate = '' then
                subject := items; items := '{}'; roles := '{}'; role := 'o';
            end if;
            predicate := class;
            negative := negative <> (kind like '!%');
            past := past or kind like '%<';
            if class = 'position' then
                item := word;
            end if;
        else
            item := coalesce((ts_lexize(stemmer, word))[1], word);
        end if;
        if item is not null then
            if predicate = 'prefer' and kinds ? ('~' || word) then
                item := '~' || (kinds ->> ('~' || word)) || '~' || item;
            end if;
            named := case when predicate = '' and items = '{}' then words[place] <> word else named and predicate <> '' end;
            items := items || item;
            roles := roles || case when item like '\%%' and role in ('o', '@at', '@on', '@for') then 'time' else role end;
        end if;
        place := place + width;
    end loop;
    if strpos(spoken, upper(substr('edfspi', array_position(languages, language), 1))) > 0 then
        ending := textrawl.read_ending(array_to_string(spelt, ' '), kinds, stemmer, words <> folded);
    end if;
    named := named and cardinality(subject) = 1 and language <> 'german';
    if predicate = 'be' and job and '@at' = any(roles) then
        -- In "is a nurse at Charité", the value that can change is the employer.
        predicate := 'work';
        select array_agg(i order by n), array_agg(r order by n) into items, roles
        from unnest(items, roles) with ordinality t (i, r, n) where r <> 'o';
        indefinite := false;
    elsif predicate in ('be', 'home') and items <> '{}' and 'time' = all(roles) then
        predicate := 'plan';
    end if;
end
$$;

comment on function textrawl.read_claim is
    'The parts of a short fact by which disagreement() compares it with another fact. The language is the one that has '
    'most words of the text in claim_words(). A text of more than 24 words has no parts. '
    'Example: select * from textrawl.read_claim(''moved to Berlin in March 2025'');';
