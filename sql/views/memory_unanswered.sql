create view textrawl.memory_unanswered with (security_invoker) as
select * from textrawl.unanswered_queries();

comment on view textrawl.memory_unanswered is 'Queries that found no fact with a score of 0.5 or more in their last search. '
    'They show what agents do not find. unanswered_queries() accepts another score as its parameter.';
comment on column textrawl.memory_unanswered.space is 'Home space of the caller.';
comment on column textrawl.memory_unanswered.query is
    'Text of the query; null if the text was not kept (TEXTRAWL_RECORD_RECALLS=hash).';
comment on column textrawl.memory_unanswered.query_hash is
    'Hash of the query; equal for queries that differ only in case and white space.';
comment on column textrawl.memory_unanswered.times is 'Number of searches with the query.';
comment on column textrawl.memory_unanswered.score is
    'Score of the best fact of the last answer; null if no fact was found.';
comment on column textrawl.memory_unanswered.hits is 'Number of facts that the last answer found.';
comment on column textrawl.memory_unanswered.first_at is 'Time of the first search with the query.';
comment on column textrawl.memory_unanswered.last_at is 'Time of the last search with the query.';
