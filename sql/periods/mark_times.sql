create function textrawl.mark_times(
    line text,    -- of mark_words()
    today date,
    past boolean  -- three years ago it happened; otherwise it is so since then
) returns text
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable strict parallel safe
as $$
declare
    part text[];
begin
    -- Each time becomes one word: t2021-03_2021-03, or r03 without a year.
    if line like '%/m__/%' then
        if line like '%/n__/%' then
            line := regexp_replace(line, '\S*/n(\d\d)/\S* (?:\S*/of/\S* )?\S*/m(\d\d)/\S* (?:\S*/(?:of|the)/\S* )*(?:/,/ )?\S*/y(\d{4})/', '/t\3-\2-\1_\3-\2-\1/', 'g');
            line := regexp_replace(line, '\S*/m(\d\d)/\S* (?:\S*/the/\S* )?\S*/n(\d\d)/\S* (?:/,/ )?\S*/y(\d{4})/', '/t\3-\1-\2_\3-\1-\2/', 'g');
        end if;
        line := regexp_replace(line, '\S*/m(\d\d)/\S* (?:\S*/(?:of|the)/\S* |/,/ )*\S*/y(\d{4})/', '/t\2-\1_\2-\1/', 'g');
        if line like '%/n__/%' then
            line := regexp_replace(line, '\S*/n(\d\d)/\S* (?:\S*/of/\S* )?\S*/m(\d\d)/\S*', '/r\2-\1/', 'g');
            line := regexp_replace(line, '\S*/m(\d\d)/\S* (?:\S*/the/\S* )?\S*/n(\d\d)/\S*', '/r\1-\2/', 'g');
        end if;
        line := regexp_replace(line, '\S*/m(\d\d)/\S*', '/r\1/', 'g');
    end if;
    if line like '%/_1/%' or line like '%/_2/%' or line like '%/_3/%' or line like '%/_4/%' or line like '%/_5/%' or line like '%/_6/%' or line like '%/_7/%' or line like '%/w8/%' then
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
        line := replace(line, part[1], '/t' || textrawl.named_time(part[3], part[2], today) || '/' || case part[2] when 'last' then 'late/' when 'next' then 'soon/' else '' end);
    end loop;
    if line like '%/ago/%' then
        part := regexp_match(line, '(\S*/n(\d\d)/\S* \S*/u(\d)/\S* \S*/ago/\S*)');
        part := coalesce(part, regexp_match(line, '(\S*/ago/\S* \S*/n(\d\d)/\S* \S*/u(\d)/\S*)'));
    end if;
    if part[1] is not null and line like '%/ago/%' then
        line := replace(line, part[1], case when past then '' else '/since/ ' end || '/t' || textrawl.time_ago(part[2]::integer, part[3]::integer, today) || case part[3] when '2' then '/late/week/' else '/late/' end);
    end if;
    if line like '%/n__/%/u_/%' and (line like '%/since/%' or line like '%/for/%' and line like '%/perfect/%') then
        line := coalesce(replace(line, duration.part[1] || ' ' || duration.part[2], '/since/ /t' || textrawl.time_ago(duration.part[3]::integer, duration.part[4]::integer, today) || '/'), line)
        from (select regexp_match(line, '(\S*/(?:since|for)/\S*) (\S*/n(\d\d)/\S* \S*/u(\d)/\S*)') as part) duration;
    end if;

    if line like '%/n__/%/t____-__-__%' then
        line := regexp_replace(line, '\S*/n(\d\d)/\S* (\S*/(?:to|until)/\S* )\S*/t(\d{4}-\d\d)-', '/t\3-\1_\3-\1/ \2/t\3-');
    end if;
    return line;
end
$$;

comment on function textrawl.mark_times is
    'The line of mark_words(), in which each time has become one word: t2021-03_2021-03 (its first and last year, month or day), or r03 if it has no year. '
    'Example: select textrawl.mark_times('' /since/ /m03/ /y2021/ '', ''2026-11-28'', false) -> '' /since/ /t2021-03_2021-03/ '';';
