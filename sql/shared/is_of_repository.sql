create function textrawl.is_of_repository(repository text, here text[]) returns boolean
language sql immutable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it.
    select here is null or repository is null or split_part(repository, '#', 1) = any(here);
end;

comment on function textrawl.is_of_repository is
    'True if a fact of this repository belongs to a session with the keys of session_repositories(), or to no repository. '
    'Without keys, every fact belongs. '
    'Example: select textrawl.is_of_repository(''github.com/acme/api'', array[''github.com/acme/api'']);';
