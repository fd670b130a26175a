create view textrawl.memory_recalls with (security_invoker) as
select s.name as space, r.id, r.at, a.name as actor, r.client, r.mode, r.query, r.query_hash, r.hits, r.score, r.cosine, r.coverage,
       r.tokens, r.budget, r.items, r.dropped, r.milliseconds, r.format, r.structured
from textrawl.recall r
join textrawl.space s on s.id = r.space_id
left join textrawl.actor a on a.id = r.actor_id;

comment on view textrawl.memory_recalls is 'Calls of query_memory: what was asked (as RECORD_RECALLS lets it be kept), what was found, and what it cost. Of the last 90 days; memory_recalled_facts has the facts of each.';
comment on column textrawl.memory_recalls.space is 'Home of who asked; the answer may be from others as well.';
comment on column textrawl.memory_recalls.id is 'Number of the recall.';
comment on column textrawl.memory_recalls.at is 'When it was answered.';
comment on column textrawl.memory_recalls.actor is 'Who asked; null: somebody without a token.';
comment on column textrawl.memory_recalls.client is 'Name and version of the MCP client; null: it did not say.';
comment on column textrawl.memory_recalls.mode is 'search, entity or list.';
comment on column textrawl.memory_recalls.query is 'The question, or the name that was looked up; null: not kept.';
comment on column textrawl.memory_recalls.query_hash is 'The same for questions that differ only in case and white space.';
comment on column textrawl.memory_recalls.hits is 'Facts that were found.';
comment on column textrawl.memory_recalls.score is 'Score of the best fact, 0 to 1; null: none found, or not a search.';
comment on column textrawl.memory_recalls.cosine is 'Highest cosine: what the arm of meaning found.';
comment on column textrawl.memory_recalls.coverage is 'Largest coverage of the question''s words: what the arm of words found.';
comment on column textrawl.memory_recalls.tokens is 'Tokens of the whole answer.';
comment on column textrawl.memory_recalls.budget is 'Most tokens that it might have cost.';
comment on column textrawl.memory_recalls.items is 'Facts, relations or entities in the answer.';
comment on column textrawl.memory_recalls.dropped is 'Those left out because they did not fit the budget.';
comment on column textrawl.memory_recalls.milliseconds is 'From the arrival of the call to its answer.';
comment on column textrawl.memory_recalls.format is 'compact, lines or verbose.';
comment on column textrawl.memory_recalls.structured is 'Whether structured content was sent beside the text.';
