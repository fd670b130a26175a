create function textrawl.spoken_words(written text[], language text) returns jsonb
-- The function sets no search_path, which would take longer than its work. So it names the schema of each function.
language plpgsql immutable strict parallel safe
as $$
declare
    english    constant jsonb := textrawl.period_words('english');
    german     constant jsonb := textrawl.period_words('german');
    french     constant jsonb := textrawl.period_words('french');
    spanish    constant jsonb := textrawl.period_words('spanish');
    portuguese constant jsonb := textrawl.period_words('portuguese');
    italian    constant jsonb := textrawl.period_words('italian');
    dutch      constant jsonb := textrawl.period_words('dutch');
    counts integer[] := array[0, 0, 0, 0, 0, 0, 0];
    word   text;
begin
    foreach word in array written loop
        word := lower(word);
        counts := array[
            counts[1] + (english ? word)::integer, counts[2] + (german ? word)::integer, counts[3] + (french ? word)::integer,
            counts[4] + (spanish ? word)::integer, counts[5] + (portuguese ? word)::integer, counts[6] + (italian ? word)::integer,
            counts[7] + (dutch ? word)::integer];
    end loop;
    counts := array[
        2 * counts[1] + (language = 'english')::integer, 2 * counts[2] + (language = 'german')::integer,
        2 * counts[3] + (language = 'french')::integer, 2 * counts[4] + (language = 'spanish')::integer,
        2 * counts[5] + (language = 'portuguese')::integer, 2 * counts[6] + (language = 'italian')::integer,
        2 * counts[7] + (language = 'dutch')::integer];
    return case array_position(counts, (select max(c) from unnest(counts) c))
        when 1 then english when 2 then german when 3 then french when 4 then spanish when 5 then portuguese when 6 then italian else dutch end;
end
$$;

comment on function textrawl.spoken_words is
    'The period_words() of the language that has most words of a text, for read_period(). If several have as many, the given one. '
    'Example: select textrawl.spoken_words(array[''since'', ''2019''], ''english'') -> ''until'';';
