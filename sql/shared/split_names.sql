create function textrawl.split_names(input text) returns text
language sql immutable strict parallel safe
begin atomic
    -- Split getUserById and HTTPServer, but not IDs or iOS.
    select regexp_replace(regexp_replace(input, '([a-z0-9])(?=[A-Z][a-z])', '\1 ', 'g'), '([A-Z])(?=[A-Z][a-z]{2})', '\1 ', 'g');
end;

comment on function textrawl.split_names is
    'Split names in camel case into words. '
    'Example: select textrawl.split_names(''getUserById'');';
