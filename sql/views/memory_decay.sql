create view textrawl.memory_decay with (security_invoker) as
select s.name as space, m.space_id, m.observation_id, e.name as entity_name, m.content, array_to_string(m.tags, ', ') as tags, m.status, m.saved,
    m.strength, m.use_count, m.last_used, m.review_count,
    p.score,
    extract(epoch from p.falls_at - statement_timestamp())::double precision / 86400 as half_life_left_days,
    p.forgotten_at,
    p.priority as review_priority,
    m.status = 'active' and p.priority >= 0.3 as due_for_review
from textrawl.space s
cross join lateral textrawl.memory_states(s.id) m
join textrawl.entity e on e.space_id = m.space_id and e.id = m.entity_id
cross join lateral (select textrawl.space_policy(s.id) as policy offset 0) of_space
cross join lateral (select textrawl.decay_score(m.use_count, m.last_used, m.strength, policy) as score offset 0) now
cross join lateral (
    select now.score,
        textrawl.decay_reaches(now.score / 2, m.use_count, m.last_used, m.strength, policy) as falls_at,
        textrawl.decay_reaches((policy).forget_threshold, m.use_count, m.last_used, m.strength, policy) as forgotten_at,
        textrawl.review_priority(now.score, policy) as priority) p
where m.status in ('active', 'promoted') and textrawl.is_valid(m.valid_from, m.valid_until, m.closed_at);

comment on view textrawl.memory_decay is 'How well each memory is retained now: its score, when the score falls below the threshold of gc, and whether the memory is due for review. '
    'Example: select content, score, forgotten_at from textrawl.memory_decay order by score limit 10;';
comment on column textrawl.memory_decay.space is 'Name of the space.';
comment on column textrawl.memory_decay.space_id is 'Id of the space.';
comment on column textrawl.memory_decay.observation_id is 'Id of the memory.';
comment on column textrawl.memory_decay.entity_name is 'Entity that the memory belongs to.';
comment on column textrawl.memory_decay.content is 'Text, or the first part of a long text.';
comment on column textrawl.memory_decay.tags is 'Tags in lower case, separated by commas.';
comment on column textrawl.memory_decay.status is 'active or promoted.';
comment on column textrawl.memory_decay.saved is 'True: gc can take the memory.';
comment on column textrawl.memory_decay.strength is 'Factor of the score.';
comment on column textrawl.memory_decay.use_count is 'Number of recorded uses.';
comment on column textrawl.memory_decay.last_used is 'When the memory was last used or saved.';
comment on column textrawl.memory_decay.review_count is 'Number of uses that observe_memory_usage recorded.';
comment on column textrawl.memory_decay.score is 'decay_score() with the policy of the space.';
comment on column textrawl.memory_decay.half_life_left_days is 'Days until the score is half of what it is now, if nobody uses the memory.';
comment on column textrawl.memory_decay.forgotten_at is 'When the score falls below the threshold of gc, if nobody uses the memory. Null: never.';
comment on column textrawl.memory_decay.review_priority is 'review_priority() of the score, from 0 to 1.';
comment on column textrawl.memory_decay.due_for_review is 'True: a search can add the memory to its results for review.';
