create function textrawl.record_extraction_use(
    space integer, document uuid, model text, requests integer, tokens_in bigint, tokens_out bigint,
    milliseconds double precision, error text default null
) returns boolean
language sql volatile security definer
set search_path from current
begin atomic
    insert into textrawl.llm_use (space_id, actor_id, purpose, model, requests, tokens_in, tokens_out, milliseconds, error)
    select v.space_id, v.author_id, 'extract', left(record_extraction_use.model, 200), record_extraction_use.requests,
        record_extraction_use.tokens_in, record_extraction_use.tokens_out, record_extraction_use.milliseconds,
        record_extraction_use.error
    from textrawl.document d
    join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where d.space_id = record_extraction_use.space and d.id = record_extraction_use.document
      and exists (select from textrawl.extraction_pending p where p.space_id = d.space_id and p.document_id = d.id)
    returning true;
end;

comment on function textrawl.record_extraction_use is
    'Record a call to the LLM for a journal entry that waits for extraction. Servers call this '
    'function without a credential.';
