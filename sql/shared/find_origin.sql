create function textrawl.find_origin(stored text, tool text, client text, source text) returns text
language sql immutable parallel safe
begin atomic
    -- Only the server names the tool. The words of a client and of an argument can lower an origin, but not raise it.
    select coalesce(stored, case
        when source = 'document' or tool = 'memory_create' and client like 'textrawl%' or tool in (
            'import', 'migrate', 'extraction', 'extract_memories', 'memory_consolidate',
            'textrawl import', 'textrawl ingest', 'textrawl capture', 'textrawl journal consolidate') then 'external'
        when tool in ('sql', 'explorer') or tool like 'textrawl %' and tool <> 'textrawl tidy' then 'said'
        else 'inferred' end);
end;

comment on function textrawl.find_origin is
    'The origin of a fact: the stored one, or else that of the call that wrote it. Commands, pages and psql are of a person '
    '(said), tools of an agent (inferred). Documents, imports, captured texts and extraction are external. The order of the '
    'alphabet is that of trust, so least() is the origin of what is made of several facts. '
    'Example: select textrawl.find_origin(null, ''remember_fact'', ''claude-code 2'', ''conversation'');';
