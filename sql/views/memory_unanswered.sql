create view textrawl.memory_unanswered with (security_invoker) as
select s.name as space, asked.query, asked.query_hash, asked.times, asked.score, asked.hits, asked.first_at, asked.last_at
from (
    select r.space_id, r.query_hash, max(r.query) as query, count(*) as times, min(r.at) as first_at, max(r.at) as last_at,
           (array_agg(r.score order by r.at desc, r.id desc))[1] as score,
           (array_agg(r.hits order by r.at desc, r.id desc))[1] as hits
    from textrawl.recall r
    where r.mode = 'search' and r.query_hash is not null
    group by r.space_id, r.query_hash
) asked
join textrawl.space s on s.id = asked.space_id
where asked.score is null or asked.score < 0.5;

comment on view textrawl.memory_unanswered is 'Questions whose best fact scored below 0.5 when they were asked last: what agents look for and nobody has told.';
comment on column textrawl.memory_unanswered.space is 'Home of who asked.';
comment on column textrawl.memory_unanswered.query is 'The question; null: not kept (RECORD_RECALLS=hash).';
comment on column textrawl.memory_unanswered.query_hash is 'The same for questions that differ only in case and white space.';
comment on column textrawl.memory_unanswered.times is 'How often it was asked.';
comment on column textrawl.memory_unanswered.score is 'Best score of the last answer; null: nothing was found.';
comment on column textrawl.memory_unanswered.hits is 'Facts that the last answer found.';
comment on column textrawl.memory_unanswered.first_at is 'When it was asked first.';
comment on column textrawl.memory_unanswered.last_at is 'When it was asked last.';
