create function textrawl.name_spellings(key text) returns text[]
language sql immutable strict parallel safe
begin atomic
    -- Most names have one spelling, so look at their signs first, and at first without a regular expression.
    select case when key not like '%_ %' and key not like '%,%' and key not like '%''%' and key not like '%-%' and octet_length(key) = char_length(key) then '{}'
        when parts is null and key !~ '[-''’‘‐-—−]|[\uff01-\uff5e]' then '{}' else array_remove(array_remove(array[
            translate(key, '’‘', ''''''), translate(key, '''‘', '’’'), normalize(key, nfkc), translate(key, '‐‑‒–—−', '------'),
            replace(key, '-', '‐'), replace(key, '-', '‑'), replace(key, '-', '–'), parts[1] || ' ' || parts[2],
            parts[1] || ' ' || parts[2] || '.', parts[1] || ', ' || parts[2], parts[1] || ', ' || parts[2] || '.'], key), null) end
    from (select regexp_match(key, '^(.*[^,]),? (inc|ltd|llc|corp|co|plc|gmbh|ag|kg|sarl|sas|srl|bv|nv|ab|oy)[.]?$') as parts) of_name;
end;

comment on function textrawl.name_spellings is
    'The other spellings of a name_key() that everybody takes for the same name: with another apostrophe or hyphen, without '
    'wide letters, or with another comma and point at the legal form of a company. '
    'Example: select textrawl.name_spellings(''acme inc.'');';
