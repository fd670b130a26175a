create function textrawl.space_language(space integer) returns regconfig
language plpgsql stable parallel safe
set search_path from current
as $$
begin
    return (select s.language::regconfig from space s where s.id = space_language.space);
end
$$;

comment on function textrawl.space_language is
    'The language of a space. Call this function in the statement that stores a document. Then change_language() waits '
    'for the statement, or the statement sees the new language. '
    'Example: select textrawl.space_language(1);';
