create function textrawl.name_spellings(key text) returns text[]
language sql immutable strict parallel safe
begin atomic
    -- Most names have one spelling, so look at their signs before anything is made of them.
    select case when parts is null and key !~ '[''’‘]|[\uff01-\uff5e]' then '{}' else array_remove(array_remove(array[
            translate(key, '’‘', ''''''), translate(key, '''‘', '’’'), normalize(key, nfkc),
            form || ' ' || legal, form || ' ' || legal || '.', form || ', ' || legal, form || ', ' || legal || '.'], key), null) end
    from (select regexp_match(key, '^(.*[^,]),? (inc|ltd|llc|corp|co|plc|gmbh|ag|kg|sarl|sas|srl|bv|nv|ab|oy)[.]?$') as parts) of_name
    cross join lateral (select parts[1] as form, parts[2] as legal) split;
end;

comment on function textrawl.name_spellings is
    'The other spellings of a name_key() that everybody takes for the same name: with another apostrophe, without wide '
    'letters, or with another comma and point at the legal form of a company. '
    'Example: select textrawl.name_spellings(''acme inc.'');';
