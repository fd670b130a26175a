create view textrawl.memory_unanswered with (security_invoker) as
select s.name as space, question.query, question.query_hash, question.times, question.score, question.hits,
       question.first_at, question.last_at
from (
    select r.space_id, r.query_hash, max(r.query) as query, count(*) as times, min(r.at) as first_at, max(r.at) as last_at,
           (array_agg(r.score order by r.at desc, r.id desc))[1] as score,
           (array_agg(r.hits order by r.at desc, r.id desc))[1] as hits
    from textrawl.recall r
    where r.mode = 'search' and r.query_hash is not null
    group by r.space_id, r.query_hash
) question
join textrawl.space s on s.id = question.space_id
where question.score is null or question.score < 0.5;

comment on view textrawl.memory_unanswered is 'Questions whose best fact scored below 0.5 when they were last asked. '
    'They show what agents look for in vain.';
comment on column textrawl.memory_unanswered.space is 'Home space of the caller.';
comment on column textrawl.memory_unanswered.query is 'The question; null if not kept (RECORD_RECALLS=hash).';
comment on column textrawl.memory_unanswered.query_hash is 'Hash that is equal for questions that differ only in case and white space.';
comment on column textrawl.memory_unanswered.times is 'Number of times it was asked.';
comment on column textrawl.memory_unanswered.score is 'Best score of the last answer; null if nothing was found.';
comment on column textrawl.memory_unanswered.hits is 'Number of facts that the last answer found.';
comment on column textrawl.memory_unanswered.first_at is 'Time when it was first asked.';
comment on column textrawl.memory_unanswered.last_at is 'Time when it was last asked.';
