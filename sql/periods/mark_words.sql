create function textrawl.mark_words(
    content text, language text,
    numbered boolean default false,  -- each kind is followed by the place of its word in `written`; quoted words count
    out line text,                   -- null: the text is too short or too long
    out written text[], out words jsonb
)
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable strict parallel safe
as $$
declare
    word  text;
    low   text;
    kinds text;
    place integer := 1;
    width integer;
begin
    -- A session keeps 32 compiled regular expressions. So each is used only where it can match.
    content := translate(normalize(left(content, 400), nfc), '’‘''–—¿¡', '   --  ');
    if not numbered and translate(content, '„“”«"', '') <> content then
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
    if cardinality(written) not between 2 - numbered::integer and 40 then
        return;
    end if;
    words := textrawl.spoken_words(written, language);
    line := ' ';
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
                when (word = low or place = 1 and words ->> 'past~' !~ 'te') and low ~ ('.(' || (words ->> 'past~') || ')(-se)?$') then 'past'
                when words ? 'will~' and low ~ ('.(' || (words ->> 'will~') || ')$') then 'will'
                when word <> low then 'X' else 'x' end;
        elsif word <> low and place > 1 and kinds ~ '\md-?\d' then
            kinds := 'X';
        end if;
        if kinds <> 'drop' then
            line := line || '/' || replace(kinds, ' ', '/') || case when numbered and kinds <> ',' then (select string_agg('/@' || p, '') from generate_series(place, place + width - 1) p) else '' end || '/ ';
        end if;
        place := place + width;
    end loop;
end
$$;

comment on function textrawl.mark_words is
    'The kinds of the words of a text as one line, for mark_times(), with the words and the period_words() of its language. '
    'Example: select line from textrawl.mark_words(''since March 2021'', ''english'') -> '' /since/ /m03/ /y2021/ '';';
