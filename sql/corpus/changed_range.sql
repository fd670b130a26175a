create function textrawl.changed_range(
    old text, new text,
    out prefix integer,  -- number of equal characters at the beginning
    out suffix integer   -- number of equal characters at the end, after the prefix
)
language plpgsql immutable parallel safe
set search_path from current
as $$
declare
    high   integer := least(char_length(old), char_length(new));
    middle integer;
begin
    prefix := 0;
    suffix := 0;
    while prefix < high loop
        middle := (prefix + high + 1) / 2;
        if left(old, middle) = left(new, middle) then prefix := middle; else high := middle - 1; end if;
    end loop;
    high := least(char_length(old), char_length(new)) - prefix;
    while suffix < high loop
        middle := (suffix + high + 1) / 2;
        if right(old, middle) = right(new, middle) then suffix := middle; else high := middle - 1; end if;
    end loop;
end
$$;

comment on function textrawl.changed_range is
    'The lengths of the common beginning and the common end of two texts. '
    'Example: select * from textrawl.changed_range(''tea at four'', ''tea at five'');';
