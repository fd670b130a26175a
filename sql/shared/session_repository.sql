create function textrawl.session_repository() returns text
language sql stable
begin atomic
    select nullif(split_part(current_setting('textrawl.repository', true), ' ', 1), '');
end;

comment on function textrawl.session_repository is
    'The key with which this session stores facts: the first one of the setting textrawl.repository. Null: of no repository. '
    'Example: select set_config(''textrawl.repository'', ''github.com/acme/api'', false), textrawl.session_repository();';
