create function textrawl.strip_accents(input text) returns text
language sql immutable strict parallel safe
begin atomic
    select case when octet_length(input) = char_length(input) then input
        else normalize(regexp_replace(normalize(input, nfd), '[\u0300-\u036f]', '', 'g'), nfc) end;
end;

comment on function textrawl.strip_accents is
    'A text without its accents. Example: select textrawl.strip_accents(''préféré'');';
