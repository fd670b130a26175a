create function textrawl.require_language(language text) returns text
language plpgsql stable
set search_path from current
as $$
declare
    found_name text := find_language(language);
begin
    if found_name is null then
        raise exception using errcode = 'TR033', message = format('there is no text search configuration %s', language),
            detail = coalesce(left(language, 200), '');
    end if;
    return found_name;
end
$$;

comment on function textrawl.require_language is
    'The name of a language in the form in which space.language stores it. Error TR033: this Postgres has no such text '
    'search configuration. '
    'Example: select textrawl.require_language(''german'');';
