create function textrawl.identity_path(category text, filename text) returns text
language plpgsql immutable parallel safe
set search_path from current
as $$
begin
    if category is null or category not in ('self', 'user', 'relationship', 'custom')
       or filename is null or filename !~ '^[A-Za-z0-9_-]+\.md$' or char_length(filename) > 100 then
        raise exception using errcode = 'TR090', message = 'not the name of an identity file',
            detail = left(concat_ws('/', category, filename), 100);
    end if;
    return category || '/' || filename;
end
$$;

comment on function textrawl.identity_path is
    'The path of an identity file in its space. Error TR090: not a category (self, user, relationship, custom), or not '
    'a filename (letters, digits, _ and -, and .md at the end, at most 100 characters). '
    'Example: select textrawl.identity_path(''self'', ''my_identity.md'');';
