create function textrawl.read_period(
    content text, said_at timestamptz default now(), language text default 'english',
    out starts text,   -- the first year, month or day: 2016, 2021-03 or 2024-05-17
    out ends text,     -- the last one; past: it is over, and the text does not say since when
    out event boolean, -- it happened in this time, and did not only hold then
    out valid_from timestamptz, out valid_until timestamptz  -- the same as a period; an event has no end
)
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable strict parallel safe
as $$
declare
    today   date := (said_at at time zone 'UTC')::date;
    words   jsonb;
    written text[];
    word    text;
    low     text;
    kinds   text;
    line    text := ' ';
    place   integer := 1;
    width   integer;
    part    text[];
    filler  constant text := '(?:\S*/(?:the|of|in|to)/\S* )*?';
    time    constant text := '\S*/([tyr][\ds][^/]*|r[wf]\d)/\S* ';
    past    boolean;
    will    boolean;
    found   text[];
    before  text;
    direction text;
begin
    -- Most texts name no time.
    if content !~* '(19|20)\d\d|\m(since|until|till?|as of|starting|effective|ago|yesterday|last|next|this morning|for\M.*\m(day|week|month|year)s|used to|tomorrow|seit|bis|ab|vor|gestern|vorgestern|heute|letzt|vorig|vergangen|nächst|kommend|früher|einst|depuis|jusqu|partir|compter|dès|hier|il y a|derni|prochain|autrefois|jadis|ce matin|desde|hasta|ayer|anteayer|anoche|hace|llevan?|pasad|próxim|antes|antiguamente|até|ontem|anteontem|há|faz|antigamente|outrora|passad|dall?|da\M.*(giorn|settiman|mes|ann)|dalla|dallo|fino|sino|ieri|fa|stamattina|stanotte|scors|prossim|decorrere|una volta|un tempo|esta ma)' then
        return;
    end if;
    -- A session keeps 32 compiled regular expressions. So each is used only where it can match.
    content := translate(normalize(left(content, 400), nfc), '’‘''–—', '   --');
    if translate(content, '„“”«"', '') <> content then
        content := regexp_replace(content, '[„“”«"][^„“”«»"]*[“”»"]', ' , ', 'g');
    end if;
    if content like '%._%.____%' then
        content := regexp_replace(content, '\m(\d\d?)\.(\d\d?)\.((?:19|20)\d\d)\M', '\3-\2-\1', 'g');
    elsif content like '%/_%/____%' and language <> 'english' then
        content := regexp_replace(content, '\m(\d\d?)/(\d\d?)/((?:19|20)\d\d)\M', '\3-\2-\1', 'g');
    end if;
    if content like '%____-%____%' or content like '%____ - ____%' then
        content := regexp_replace(content, '(?<=\m(?:19|20)\d\d)\s?-\s?(?=(?:19|20)\d\d\M)', ' - ', 'g');
    end if;
    content := regexp_replace(content, '([,;:()!?]|(?<!\d)\.(?=\s|$))', ' \1 ', 'g');
    written := array_remove(string_to_array(replace(replace(content, chr(10), ' '), chr(9), ' '), ' '), '');
    if cardinality(written) not between 2 and 40 then
        return;
    end if;
    words := textrawl.spoken_words(written, language);
    while place <= cardinality(written) loop
        word := written[place];
        low := lower(word);
        width := 1;
        kinds := words ->> low;
        if words ? (low || ' ') then
            for size in reverse 4 .. 2 loop
                if words ? lower(array_to_string(written[place:place + size - 1], ' ')) and place + size - 1 <= cardinality(written) then
                    kinds := words ->> lower(array_to_string(written[place:place + size - 1], ' '));
                    width := size;
                    exit;
                end if;
            end loop;
        end if;
        if kinds is null then
            kinds := case when low between '0' and '9~' then case
                when low ~ '^(19|20)\d\d\.?$' then 'y' || left(low, 4)
                when low ~ '^\d\d?(st|nd|rd|th|er|º|ª|\.)?$' then 'n' || lpad(substring(low from '^\d+'), 2, '0')
                when low ~ '^(19|20)\d\d-\d\d?-\d\d?$' then (
                    select format('t%1$s_%1$s', concat_ws('-', d[1], lpad(d[2], 2, '0'), lpad(d[3], 2, '0'))) from string_to_array(low, '-') d)
                when low ~ '^(19|20)\d\d-(0[1-9]|1[0-2])$' then format('t%1$s_%1$s', low)
                else 'x' end
                when low = '-' then 'to'
                when low in (',', ';', ':', '(', ')', '!', '?', '.') then ','
                when (word = low or place = 1 and words ->> 'past~' !~ 'te') and low ~ ('.(' || (words ->> 'past~') || ')$') then 'past'
                when words ? 'will~' and low ~ ('.(' || (words ->> 'will~') || ')$') then 'will'
                when word <> low then 'X' else 'x' end;
        elsif word <> low and place > 1 and kinds ~ '\md-?\d' then
            kinds := 'X';
        end if;
        if kinds <> 'drop' then
            line := line || '/' || replace(kinds, ' ', '/') || '/ ';
        end if;
        place := place + width;
    end loop;
    if line ~ '(?<!m05)/veto/|/se/ (?!\S*/past/)' then
        return;
    end if;
    past := line ~ '^ (?:\S+ ){0,4}\S*/(?:past|state)/';
    will := line ~ '/will/';
    if line like '%/used/%' and line ~ '/used/ (?!\S*/of/)' and (line ~ '^ (?:/X/ |/-/ )*/used/' or past and line !~ '/x/ /used/ .*/past/') then
        ends := 'past';
        return;
    end if;

    -- Each time becomes one word: t2021-03_2021-03, or r03 without a year.
    if line like '%/m__/%' then
        if line like '%/n__/%' then
            line := regexp_replace(line, '\S*/n(\d\d)/\S* (?:\S*/of/\S* )?\S*/m(\d\d)/\S* (?:\S*/(?:of|the)/\S* )*(?:/,/ )?\S*/y(\d{4})/', '/t\3-\2-\1_\3-\2-\1/', 'g');
            line := regexp_replace(line, '\S*/m(\d\d)/\S* (?:\S*/the/\S* )?\S*/n(\d\d)/\S* (?:/,/ )?\S*/y(\d{4})/', '/t\3-\1-\2_\3-\1-\2/', 'g');
        end if;
        line := regexp_replace(line, '\S*/m(\d\d)/\S* (?:\S*/(?:of|the)/\S* )*\S*/y(\d{4})/', '/t\2-\1_\2-\1/', 'g');
        if line like '%/n__/%' then
            line := regexp_replace(line, '\S*/n(\d\d)/\S* (?:\S*/of/\S* )?\S*/m(\d\d)/\S*', '/r\2-\1/', 'g');
            line := regexp_replace(line, '\S*/m(\d\d)/\S* (?:\S*/the/\S* )?\S*/n(\d\d)/\S*', '/r\1-\2/', 'g');
        end if;
        line := regexp_replace(line, '\S*/m(\d\d)/\S*', '/r\1/', 'g');
    end if;
    if line like '%/_1/%' or line like '%/_2/%' or line like '%/_3/%' or line like '%/_4/%' or line like '%/_5/%' or line like '%/_6/%' or line like '%/_7/%' then
        line := regexp_replace(line, '\S*/([sf]\d)/\S* (?:\S*/(?:of|the)/\S* )*\S*/y(\d{4})/', '/t\2-\1_\2-\1/', 'g');
        line := regexp_replace(line, '\S*/([swf]\d)/\S*', '/r\1/', 'g');
    end if;
    if line like '%/end/%' or line like '%/edge/%' then
        line := regexp_replace(line, '\S*/(?:end|edge)/\S* (?:\S*/(?:of|the)/\S* )*(?=\S*/[tyr][\dswf])', '', 'g');
        line := regexp_replace(line, '\S*/end/\S* (?:\S*/(?:of|the|this)/\S* )*\S*/(u\d)/', '/this/ /\1/', 'g');
    end if;
    if line like '%/d_/%' or line like '%/d-_/%' then
        line := regexp_replace(line, '\S*/(d-?\d)/\S*', '/rel/\1/', 'g');
    end if;
    while line like '%/rel/d%' loop
        part := regexp_match(line, '(/rel/d(-?\d)/)');
        exit when part[1] is null;
        line := replace(line, part[1], format('/t%1$s_%1$s/rel/', today + part[2]::integer));
    end loop;
    while line like '%/last/%' or line like '%/next/%' or line like '%/this/%' loop
        part := regexp_match(line, '(\S*/(last|next|this)/\S* \S*/(r[\dswf][\d-]*|u\d)/\S*) ');
        part := coalesce(part, (select array[p[1], p[3], p[2]] from regexp_match(line, '(\S*/(r[\dswf][\d-]*|u\d)/\S* \S*/(last|next|this)/\S*) ') p));
        exit when part[1] is null;
        line := replace(line, part[1], '/t' || textrawl.named_time(part[3], part[2], today) || '/' || case when part[2] = 'last' then 'rel/' else '' end);
    end loop;
    if line like '%/ago/%' then
        part := regexp_match(line, '(\S*/n(\d\d)/\S* \S*/u(\d)/\S* \S*/ago/\S*)');
        part := coalesce(part, regexp_match(line, '(\S*/ago/\S* \S*/n(\d\d)/\S* \S*/u(\d)/\S*)'));
    end if;
    if part[1] is not null and line like '%/ago/%' then
        line := replace(line, part[1], case when past then '' else '/since/ ' end || '/t' || textrawl.time_ago(part[2]::integer, part[3]::integer, today) || '/rel/');
    end if;
    if line like '%/n__/%/u_/%' and (line like '%/since/%' or line like '%/for/%' and line like '%/perfect/%') then
        line := coalesce(replace(line, duration.part[1] || ' ' || duration.part[2], '/since/ /t' || textrawl.time_ago(duration.part[3]::integer, duration.part[4]::integer, today) || '/'), line)
        from (select regexp_match(line, '(\S*/(?:since|for)/\S*) (\S*/n(\d\d)/\S* \S*/u(\d)/\S*)') as part) duration;
    end if;

    -- From one time to another.
    if line like '%/to/%' or line like '%/until/%' then
        found := regexp_match(line, '(?:\S*/(?:since|from|start|of|in)/\S* ' || filler || '|/[,x]/ )' || time || '\S*/(?:to|until)/\S* ' || filler || time);
    end if;
    if found[1] is not null then
        before := split_part(line, '/' || found[1] || '/', 1);
        ends := textrawl.named_edge(found[2], false);
        if found[2] like 'r%' or before like '%/about/%' or before like '%/made/%' or textrawl.edge_day(ends, false) < today and not past then
            ends := null;
            return;
        end if;
        starts := textrawl.named_edge(case when found[1] like 'r%'
            then textrawl.named_time(found[1], 'by', textrawl.edge_day(ends, false)) else found[1] end, true);
    else
        if line like '%/since/%' then
            found := regexp_match(line, '\S*/since/\S* ' || filler || time);
            direction := case when will then 'from' else 'by' end;
        end if;
        if found[1] is null and (line like '%/start/%' or line like '%/from/%' and (will or line like '%/onward/%')) then
            found := regexp_match(line, '\S*/(?:start|from)/\S* ' || filler || time);
            direction := 'from';
        end if;
        starts := textrawl.named_edge(case when found[1] like 'r%' then textrawl.named_time(found[1], direction, today) else found[1] end, true);
        if line like '%/until/%' then
            found := regexp_match(line, '\S*/until/\S* ' || filler || time);
            direction := case when line like '%/state/%' or past and line not like '%/aux/%' then 'by' else 'from' end;
            ends := textrawl.named_edge(case when found[1] like 'r%' then textrawl.named_time(found[1], direction, today) else found[1] end, false);
        end if;
        if starts is null and ends is null then
            -- An event, or what begins in the future.
            found := regexp_match(line, '\S*/in/\S* (?:\S*/(?:the|in)/\S* )*?\S*/([ty]\d[^/]*)/\S* (?!\S*/(?:money|made)/)(?:(?<!y\d{4}/ )|(?!/x/))');
            if found is null and line like '%/rel/%' then
                found := regexp_match(line, '\S*/(t\d{4}[-_][^/]*)/rel/');
            end if;
            if found is null and line like '%/the/%' and words ->> 'the' is distinct from 'the' then
                found := regexp_match(line, '\S*/the/\S* (?:\S*/the/\S* )*?\S*/(t\d{4}-\d\d-\d\d_[^/]*)/');
            end if;
            if found is null and line like '%/y____/%' then
                found := regexp_match(line, '/past/\S* \S*/(y\d{4})/\S* (?!\S*/(?:money|made|X|y|n))');
            end if;
            before := split_part(line, '/' || found[1] || '/', 1);
            if found is null or before like '%/about/%' or before like '%/made/%' and before !~ '/past/\S* \S*/made/' then
                return;
            end if;
            starts := textrawl.named_edge(found[1], true);
            if textrawl.edge_day(starts, true) > today then
                if not will and line not like '%/begin/%' then
                    starts := null;
                end if;
            elsif past or line like '%/' || found[1] || '/rel/%' then
                ends := textrawl.named_edge(found[1], false);
                event := line not like '%/state/%';
            else
                starts := null;
            end if;
        end if;
    end if;
    valid_from := textrawl.edge_day(starts, true) at time zone 'UTC';
    valid_until := case when event is not true then (textrawl.edge_day(ends, false) + 1) at time zone 'UTC' - interval '1 microsecond' end;
    if valid_from >= valid_until then
        starts := null; ends := null; event := null; valid_from := null; valid_until := null;
    end if;
exception when datetime_field_overflow or invalid_datetime_format then
    -- Such as 31 June.
    starts := null; ends := null; event := null; valid_from := null; valid_until := null;
end
$$;

comment on function textrawl.read_period is
    'The period that a text names, in English, German, French, Spanish, Portuguese and Italian. Relative times count from '
    'the day of said_at. `language` counts if the words do not tell the language. Nothing is read in doubt. '
    'Example: select * from textrawl.read_period(''lived in Hamburg from 2016 until March 2021'');';
