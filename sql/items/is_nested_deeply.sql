create function textrawl.is_nested_deeply(value text) returns boolean
language plpgsql immutable parallel safe
set search_path from current
as $$
declare
    brackets text := value;
begin
    -- A level has two brackets, so most values are too short for 191 levels.
    if octet_length(brackets) <= 380 then
        return false;
    end if;
    -- Without escapes, every second part between quotation marks is a text.
    brackets := (
        select translate(string_agg(p.part, ''), E'{},:+-.0123456789eEtrufalsn \t\r\n', '[]')
        from string_to_table(replace(replace(brackets, '\\', ''), '\"', ''), '"') with ordinality p (part, number)
        where p.number % 2 = 1);
    for level in 1 .. 190 loop
        brackets := replace(brackets, '[]', '');  -- the innermost level of each part
        exit when brackets = '';
    end loop;
    return brackets <> '';
end
$$;

comment on function textrawl.is_nested_deeply is
    'Whether the JSON of a value has more than 190 levels of lists and objects. An answer with it would have more than the 200 levels '
    'that clients read. '
    'Example: select textrawl.is_nested_deeply(''[[1], {"a": []}]'');';
