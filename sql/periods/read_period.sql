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
    line    text;
    native  boolean;  -- in English
    filler  constant text := '(?:\S*/(?:the|of|in|to)/\S* )*?';
    time    constant text := '\S*/([tyr][\ds][^/]*|r[wf]\d)/\S* ';
    past    boolean;
    will    boolean;
    found   text[];
    before  text;
    direction text;
begin
    -- Most texts name no time. A regular expression would take longer, because a session keeps only 32 compiled ones.
    if content not like '%20__%' and content not like '%19__%' and content not like '%as of %' and not '{
            "since": 0, "until": 0, "till": 0, "til": 0, "starting": 0, "effective": 0, "ago": 0, "yesterday": 0, "last": 0, "next": 0,
            "morning": 0, "used": 0, "formerly": 0, "tomorrow": 0, "days": 0, "weeks": 0, "months": 0, "years": 0, "seit": 0, "bis": 0,
            "ab": 0, "gestern": 0, "vorgestern": 0, "früher": 0, "einst": 0, "ehemals": 0, "vor": 0, "heute": 0, "letzte": 0, "letzten": 0,
            "letztem": 0, "letzter": 0, "letztes": 0, "vorige": 0, "vorigen": 0, "vorigem": 0, "voriger": 0, "voriges": 0, "nächste": 0,
            "nächsten": 0, "nächstem": 0, "nächster": 0, "nächstes": 0, "depuis": 0, "jusqu": 0, "jusque": 0, "partir": 0, "compter": 0,
            "dès": 0, "hier": 0, "avant-hier": 0, "dernier": 0, "dernière": 0, "prochain": 0, "prochaine": 0, "autrefois": 0, "jadis": 0,
            "matin": 0, "ans": 0, "mois": 0, "desde": 0, "hasta": 0, "ayer": 0, "anteayer": 0, "anoche": 0, "pasado": 0, "pasada": 0,
            "próximo": 0, "próxima": 0, "viene": 0, "antes": 0, "antiguamente": 0, "hace": 0, "lleva": 0, "llevan": 0, "solía": 0,
            "mañana": 0, "até": 0, "ontem": 0, "anteontem": 0, "passado": 0, "passada": 0, "vem": 0, "há": 0, "faz": 0, "antigamente": 0,
            "outrora": 0, "costumava": 0, "amanhã": 0, "manhã": 0, "dal": 0, "dall": 0, "dalla": 0, "dallo": 0, "fino": 0, "sino": 0,
            "ieri": 0, "scorso": 0, "scorsa": 0, "prossimo": 0, "prossima": 0, "fa": 0, "decorrere": 0, "volta": 0, "tempo": 0, "passato": 0,
            "stamattina": 0, "stamani": 0, "stanotte": 0, "giorni": 0, "settimane": 0, "mesi": 0, "anni": 0}'::jsonb
            ?| string_to_array(lower(translate(content, ',.;:''’()!?', '          ')), ' ') then
        return;
    end if;
    select m.line, m.words ->> 'the' = 'the' into line, native from textrawl.mark_words(content, language) m;
    if line is null then
        return;
    end if;
    if line ~ '(?<!m05)/veto/|/se/ (?!\S*/past/)' then
        return;
    end if;
    past := line ~ '^ (?:\S+ ){0,4}\S*/(?:past|state)/';
    will := line ~ '/will/';
    if line like '%/used/%' and line ~ '/used/ (?!\S*/of/)' and (line ~ '^ (?:/X/ |/-/ )*/used/' or past and line !~ '/x/ /used/ .*/past/') then
        ends := 'past';
        return;
    end if;

    line := textrawl.mark_times(line, today, past);

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
        if found[1] is null and (line like '%/start/%' or line like '%/from/%') then
            found := regexp_match(line, '\S*/(?:start|from)/\S* ' || filler || time);
            direction := 'from';
            -- A car from 2015 did not begin then.
            if not will and line not like '%/start/%' and line not like '%/onward/%' and (found[1] like 'r%' or textrawl.edge_day(textrawl.named_edge(found[1], true), true) <= today) then
                found := null;
            end if;
        end if;
        starts := textrawl.named_edge(case when found[1] like 'r%' then textrawl.named_time(found[1], direction, today) else found[1] end, true);
        if line like '%/until/%' then
            found := regexp_match(line, '\S*/until/\S* ' || filler || time);
            direction := case when not will and (line like '%/state/%' or past and line not like '%/aux/%') then 'by' else 'from' end;
            ends := textrawl.named_edge(case when found[1] like 'r%' then textrawl.named_time(found[1], direction, today) else found[1] end, false);
        end if;
        if starts is null and ends is null then
            -- An event, or what begins in the future.
            found := regexp_match(line, '\S*/in/\S* (?:\S*/(?:the|in)/\S* )*?\S*/([ty]\d[^/]*)/\S* (?!\S*/(?:money|made)/)(?:(?<!y\d{4}/ )|(?!/x/))');
            if found is null and (past and line like '%/late/%' or line like '%/rel/%' or line like '%/soon/%') then
                found := regexp_match(line, '\S*/(t\d{4}[-_][^/]*)/(?:rel|late|soon)/');
            end if;
            if found is null and line like '%/the/%' and native is distinct from true then
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
                if not will and line not like '%/begin/%' and line not like ' /' || found[1] || '/soon/%' then
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
    -- There is no 31 June.
    if valid_from >= valid_until or starts is not null and valid_from is null
       or ends is not null and textrawl.edge_day(ends, false) is null then
        starts := null; ends := null; event := null; valid_from := null; valid_until := null;
    end if;
end
$$;

comment on function textrawl.read_period is
    'The period that a text names, in English, German, French, Spanish, Portuguese and Italian. Relative times count from '
    'the day of said_at. `language` counts if the words do not tell the language. Nothing is read in doubt. '
    'Example: select * from textrawl.read_period(''lived in Hamburg from 2016 until March 2021'');';
