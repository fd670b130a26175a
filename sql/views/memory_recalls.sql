create view textrawl.memory_recalls with (security_invoker) as
select s.name as space, r.id, r.at, a.name as actor, r.client, r.mode, r.query, r.query_hash, r.hits, r.score, r.cosine, r.coverage,
       r.tokens, r.budget, r.items, r.dropped, r.milliseconds, r.format, r.structured
from textrawl.recall r
join textrawl.space s on s.id = r.space_id
left join textrawl.actor a on a.id = r.actor_id;

comment on view textrawl.memory_recalls is 'Calls of query_memory with question, result and cost. '
    'RECORD_RECALLS sets how much of the question is kept. Recalls of the last 90 days are kept; memory_recalled_facts '
    'lists the facts of each.';
comment on column textrawl.memory_recalls.space is 'Home space of the caller; the answer may also hold facts of other spaces.';
comment on column textrawl.memory_recalls.id is 'Number of the recall.';
comment on column textrawl.memory_recalls.at is 'Time of the answer.';
comment on column textrawl.memory_recalls.actor is 'Actor that asked; null without a token.';
comment on column textrawl.memory_recalls.client is 'Name and version of the MCP client; null if it sent none.';
comment on column textrawl.memory_recalls.mode is 'search, entity or list.';
comment on column textrawl.memory_recalls.query is 'The question, or the name that was looked up; null if not kept.';
comment on column textrawl.memory_recalls.query_hash is 'Hash that is equal for questions that differ only in case and white space.';
comment on column textrawl.memory_recalls.hits is 'Number of facts found.';
comment on column textrawl.memory_recalls.score is 'Score of the best fact, from 0 to 1; null if nothing was found or it was not a search.';
comment on column textrawl.memory_recalls.cosine is 'Highest cosine, the best result of search by meaning.';
comment on column textrawl.memory_recalls.coverage is 'Highest coverage of the question''s words, the best result of search by words.';
comment on column textrawl.memory_recalls.tokens is 'Tokens of the whole answer.';
comment on column textrawl.memory_recalls.budget is 'Maximum number of tokens allowed for the answer.';
comment on column textrawl.memory_recalls.items is 'Number of facts, relations or entities in the answer.';
comment on column textrawl.memory_recalls.dropped is 'Number of those left out because of the budget.';
comment on column textrawl.memory_recalls.milliseconds is 'Time from the arrival of the call to its answer.';
comment on column textrawl.memory_recalls.format is 'compact, lines or verbose.';
comment on column textrawl.memory_recalls.structured is 'True if structured content was sent with the text.';
