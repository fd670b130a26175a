create view textrawl.memory_recalls with (security_invoker) as
select s.name as space, r.id, r.at, a.name as actor, r.client, r.mode, r.query, r.query_hash, r.hits, r.score, r.cosine, r.coverage,
       r.tokens, r.budget, r.items, r.dropped, r.milliseconds, r.format, r.structured
from textrawl.recall r
join textrawl.space s on s.id = r.space_id
left join textrawl.actor a on a.id = r.actor_id;

comment on view textrawl.memory_recalls is 'Calls of query_memory with query, result and cost. '
    'TEXTRAWL_RECORD_RECALLS sets how much of the query is kept. Recalls are kept for 90 days. memory_recalled_facts '
    'lists the facts of each recall. explain_search() says why a query finds its facts.';
comment on column textrawl.memory_recalls.space is
    'Home space of the caller; the answer can also contain facts of other spaces.';
comment on column textrawl.memory_recalls.id is 'Number of the recall.';
comment on column textrawl.memory_recalls.at is 'Time of the answer.';
comment on column textrawl.memory_recalls.actor is 'Actor that sent the query; null if the call had no token.';
comment on column textrawl.memory_recalls.client is 'Name and version of the MCP client; null if the client sent no name.';
comment on column textrawl.memory_recalls.mode is 'Kind of the query: search, entity or list.';
comment on column textrawl.memory_recalls.query is 'Text of the query, or name of the entity that the caller asked for; null if it was not kept.';
comment on column textrawl.memory_recalls.query_hash is
    'Hash of the query; equal for queries that differ only in case and white space.';
comment on column textrawl.memory_recalls.hits is 'Number of facts that were found.';
comment on column textrawl.memory_recalls.score is
    'Score of the best fact, from 0 to 1; null if no fact was found or the call was not a search.';
comment on column textrawl.memory_recalls.cosine is
    'Highest cosine of the query and a fact; null if no vectors were compared.';
comment on column textrawl.memory_recalls.coverage is
    'Highest coverage of the facts: the weighted share of the query''s words that a fact has.';
comment on column textrawl.memory_recalls.tokens is 'Tokens of the whole answer.';
comment on column textrawl.memory_recalls.budget is 'Largest number of tokens that the answer may cost.';
comment on column textrawl.memory_recalls.items is 'Number of facts, relations or entities in the answer.';
comment on column textrawl.memory_recalls.dropped is 'Number of items that were left out because of the budget.';
comment on column textrawl.memory_recalls.milliseconds is
    'Time in milliseconds from the arrival of the call to its answer.';
comment on column textrawl.memory_recalls.format is 'Format of the text: compact, lines or verbose.';
comment on column textrawl.memory_recalls.structured is 'True if structured content was sent with the text.';
