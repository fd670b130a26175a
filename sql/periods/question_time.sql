create function textrawl.question_time(
    question text, asked_at timestamptz default now(), language text default 'english',
    out starts timestamptz, out ends timestamptz,  -- ends: the first instant after the time
    out rest text,                                 -- the question with a comma instead of the words of the time
    out relative boolean                           -- yesterday, last Friday: a fact has no such words
)
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable strict parallel safe
as $$
declare
    today  date := (asked_at at time zone 'UTC')::date;
    marked record;
    line   text;
    part   text[];
    found  text[];
    lead   constant text := '\S*/(?:in|since|start|from|to|until|before|of)/\S* (?:\S*/(?:the|of|in)/\S* )*\S*';
    no_sum constant text := '\S* (?!\S*/(?:money|made)/)';
    time   constant text := '/([tyr][\ds][^/]*|r[wf]\d)/\S* ';
    words  text;
begin
    rest := question;
    -- Japanese has no spaces, so its few words for times become English ones.
    if question ~ '[年月週日]' then
        language := 'english';
        for part in select array[w.written, w.meant] from (values
            ('([0-9]{4})年([0-9])月', '\1年0\2月'), ('([0-9]{4})年([0-9]{2})月([0-9]{1,2})日', ' \1-\2-\3 '), ('([0-9]{4})年([0-9]{2})月', ' \1-\2 '),
            ('([0-9]{4})年', ' in \1 '), ('(一昨日|おととい)', ' the day before yesterday '), ('(昨日|きのう)', ' yesterday '), ('今日', ' today '),
            ('先週', ' last week '), ('先月', ' last month '), ('(去年|昨年)', ' last year '), ('今週', ' this week '), ('今月', ' this month '),
            ('今年', ' this year '), ('([0-9]+)日前', ' \1 days ago '), ('([0-9]+)週間前', ' \1 weeks ago '),
            ('([0-9]+)[かヶ]月前', ' \1 months ago '), ('([0-9]+)年前', ' \1 years ago ')) w (written, meant)
        loop
            rest := regexp_replace(rest, part[1], part[2], 'g');
        end loop;
    end if;
    select m.* into marked from textrawl.mark_words(rest, language, true) m;
    line := replace(marked.line, '/now/', '/d0/');
    if line is null then
        return;
    end if;
    if line like '%/last/%' and line like '%/n__/%' then
        part := regexp_match(line, '(\S*/(?:last/\S* \S*/n(\d\d)|n(\d\d)/\S* \S*/last)/\S* \S*/u(\d)/\S*) (?!\S*/of/)');
        line := coalesce(replace(line, part[1], format('/t%s_%s/',
            split_part(textrawl.time_ago(coalesce(part[2], part[3])::integer, part[4]::integer, today), '_', 1), today)), line);
    end if;
    line := textrawl.mark_times(line, today, true);
    if line like '%/t____\_____/%/t%' then
        line := regexp_replace(line, '/t(\d{4})_\d{4}/\S* (?:/,/ |\S*/(?:in|of|the)/\S* )*\S*(/t\1-)', '\2');
    end if;
    if line like '%/t____\_____/%/r%' or line like '%/r%/t____\_____/%' then
        line := regexp_replace(line, '/t(\d{4})_\d{4}/\S* (?:/,/ |\S*/(?:in|of|the)/\S* )*\S*/r([\ds][\d-]*)/\S*', '/t\1-\2_\1-\2/');
        line := regexp_replace(line, '/r([\ds][\d-]*)/\S* (?:\S*/(?:in|of|the)/\S* )*\S*/t(\d{4})_\d{4}/\S*', '/t\2-\1_\2-\1/');
    end if;
    -- The 14th, of this or of the last month.
    part := regexp_match(line, '(\S*/(?:u1/\S* \S*|(?:the|in)/\S* (?=\S* (?:/,/ |$))\S*)/n([0-3]\d)/\S*)');
    if part[1] is not null and line !~ '/t\d' then
        line := replace(line, part[1], format('/t%1$s_%1$s/', to_char(
            today - case when part[2]::integer > extract(day from today) then interval '1 month' else '0' end, 'YYYY-MM-') || part[2]));
    end if;

    found := regexp_match(line, time || '\S*/(?:to|until)/\S* (?:\S*/(?:the|of|in|to)/\S* )*?\S*' || time);
    if found[2] is null then
        found := coalesce(
            regexp_match(line, '/(t\d[^/]*)/'), regexp_match(line, lead || '/(y\d{4}|r[^/]*)/' || no_sum),
            regexp_match(line, '/(r\d\d-\d\d)/'), regexp_match(line, '/(r[wf]\d)/\S* (?:/,/ |$)'),
            case when marked.words ->> 'the' is distinct from 'the' then regexp_match(line, '/(y\d{4}|r[wf]\d)/' || no_sum) end);
    end if;
    words := coalesce(found[2], found[1]);
    if words like 'r%' then
        words := textrawl.named_time(words, 'by', today);
    end if;
    ends := textrawl.edge_day(textrawl.named_edge(words, false), false) at time zone 'UTC' + interval '1 day';
    if found[2] is not null then
        words := case when found[1] like 'r%' then textrawl.named_time(found[1], 'by', (ends at time zone 'UTC')::date - 1) else found[1] end;
    end if;
    starts := textrawl.edge_day(textrawl.named_edge(words, true), true) at time zone 'UTC';
    if line like '%/' || found[1] || '/late/week/%' then
        starts := starts - interval '3 days';
        ends := ends + interval '3 days';
    end if;
    if line ~ ('/since/\S* (?:\S*/(?:the|of|in)/\S* )*\S*/' || found[1] || '/') and found[2] is null then
        ends := greatest(ends, asked_at);
    elsif line ~ ('/before/\S* (?:\S*/(?:the|of|in)/\S* )*\S*/' || found[1] || '/') then
        ends := starts;
        starts := starts - interval '1 day';
        line := regexp_replace(line, '\S*/before/\S*', '');
    end if;
    relative := marked.line ~ '/(?:last|next|this|ago|now|d-?\d)/';
    -- There is no 31 June, and a question for a time to come means what is known now.
    if starts < ends and starts <= asked_at then
        for words in
            select string_agg(regexp_replace(marked.written[place], '([^[:alnum:]])', '\\\1', 'g'), '[[:space:][:punct:]]+' order by place)
            from (
                select place, place - row_number() over (order by place) as run
                from (
                    select (regexp_matches(marked.line, '@(\d+)', 'g'))[1]::integer as place
                    except
                    select (regexp_matches(token, '@(\d+)', 'g'))[1]::integer from string_to_table(line, ' ') token
                    where token !~ all (array['/' || found[1] || '/', '/' || coalesce(found[2], found[1]) || '/'])
                ) removed
            ) runs group by run
        loop
            rest := regexp_replace(rest, '(?<![[:alnum:]])' || words || '(?![[:alnum:]])', ',', 'i');
        end loop;
    else
        starts := null; ends := null; rest := question; relative := null;
    end if;
end
$$;

comment on function textrawl.question_time is
    'The time that a question names, in the words of read_period(), and in Dutch and Japanese. Relative times count back from the day of '
    'asked_at. Of several times the first counts, but two that belong together make one: between March and May, last year in June. '
    'Example: select * from textrawl.question_time(''what did Ada do last week?'');';
