create view textrawl.memory_growth with (security_invoker) as
select s.name as space, told.week, told.entity_type, told.source, a.name as author, told.facts, told.still_valid
from (
    select o.space_id, date_trunc('week', o.created_at)::date as week, o.entity_type, o.source, o.author_id, count(*) as facts,
           count(*) filter (where textrawl.is_valid(o.valid_from, o.valid_until)) as still_valid
    from textrawl.observation o
    group by 1, 2, 3, 4, 5
) told
join textrawl.space s on s.id = told.space_id
join textrawl.actor a on a.id = told.author_id;

comment on view textrawl.memory_growth is 'Facts that were stored, by space, week, type, source and author.';
comment on column textrawl.memory_growth.space is 'Name of its space.';
comment on column textrawl.memory_growth.week is 'Monday of the week, in the time zone of the session.';
comment on column textrawl.memory_growth.entity_type is 'Type of the entities.';
comment on column textrawl.memory_growth.source is 'conversation, note, document or manual.';
comment on column textrawl.memory_growth.author is 'Who told them.';
comment on column textrawl.memory_growth.facts is 'How many were stored.';
comment on column textrawl.memory_growth.still_valid is 'How many of them are valid now.';
