create function textrawl.record_llm_use(
    purpose text, model text, requests integer, tokens_in bigint, tokens_out bigint, milliseconds double precision,
    error text default null, credential bytea default null, space integer default null
) returns boolean
language sql volatile security definer
set search_path from current
begin atomic
    insert into textrawl.llm_use (space_id, actor_id, purpose, model, requests, tokens_in, tokens_out, milliseconds, error)
    select r.space_id, r.actor_id, record_llm_use.purpose, left(record_llm_use.model, 200), record_llm_use.requests,
        record_llm_use.tokens_in, record_llm_use.tokens_out, record_llm_use.milliseconds, record_llm_use.error
    from textrawl.access_rights(credential) r
    where 'read' = any(r.scopes) and case when record_llm_use.space is null then r.home else r.space_id = record_llm_use.space end
    returning true;
end;

comment on function textrawl.record_llm_use is
    'Record a call to the LLM, and return true. If the credential does not have the scope read in the space, record '
    'nothing and return null. '
    'Example: select textrawl.record_llm_use(''consolidate'', ''ollama:llama3.2'', 1, 900, 80, 2500);';
