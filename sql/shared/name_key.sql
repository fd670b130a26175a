create function textrawl.name_key(name text) returns text
language sql immutable strict parallel safe
begin atomic
    select normalize(textrawl.fold_case(btrim(regexp_replace(normalize(name, nfc), '\s+', ' ', 'g'))), nfc);
end;

comment on function textrawl.name_key is
    'The form in which names are compared: without differences of case, Unicode composition and white space. '
    'Example: select textrawl.name_key(''  Acme   CORP '');';
