create view textrawl.memory_corrections with (security_invoker) as
select s.name as graph, c.id as correction, r.label as source, c.part, c.proposal, c.original_text, c.proposed_text, c.mode,
    case when c.applied_at is not null then 'applied' when c.apply_until > now() then 'proposed' else 'expired' end as state,
    a.name as author, c.client, c.created_at, c.apply_until, c.applied_at, c.event_id as event, c.document_id
from textrawl.correction c
join textrawl.space s on s.id = c.space_id
join textrawl.source r on r.space_id = c.space_id and r.document_id = c.document_id
join textrawl.actor a on a.id = c.author_id;

comment on view textrawl.memory_corrections is 'Corrections of chunks with the old and the new text. '
    'Corrections that nobody applied are kept for a day. '
    'Example: select source, original_text, proposed_text from textrawl.memory_corrections where state = ''applied'' order by event desc;';
comment on column textrawl.memory_corrections.graph is 'Name of the graph.';
comment on column textrawl.memory_corrections.correction is 'Id of the correction.';
comment on column textrawl.memory_corrections.source is 'Label of the source.';
comment on column textrawl.memory_corrections.part is 'Number of the chunk in its source.';
comment on column textrawl.memory_corrections.proposal is 'What should change, in the words of the caller.';
comment on column textrawl.memory_corrections.original_text is 'Text of the chunk before the correction.';
comment on column textrawl.memory_corrections.proposed_text is 'Text of the chunk after the correction.';
comment on column textrawl.memory_corrections.mode is 'llm: the LLM wrote the proposed text. deterministic: the caller wrote it.';
comment on column textrawl.memory_corrections.state is 'proposed, applied or expired.';
comment on column textrawl.memory_corrections.author is 'Actor who proposed the correction.';
comment on column textrawl.memory_corrections.client is 'Name and version of the MCP client that proposed it. Null: it was proposed from SQL.';
comment on column textrawl.memory_corrections.created_at is 'When the correction was proposed.';
comment on column textrawl.memory_corrections.apply_until is 'When the correction can no longer be applied.';
comment on column textrawl.memory_corrections.applied_at is 'When the correction was applied. Null: it was not applied.';
comment on column textrawl.memory_corrections.event is 'Number of the event in the trail. Null: the correction was not applied.';
comment on column textrawl.memory_corrections.document_id is 'Id of the source.';
