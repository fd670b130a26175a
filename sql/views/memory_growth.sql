create view textrawl.memory_growth with (security_invoker) as
select s.name as space, stored.week, stored.entity_type, stored.source, a.name as author, stored.facts, stored.still_valid
from (
    select o.space_id, date_trunc('week', o.created_at)::date as week, o.entity_type, o.source, o.author_id, count(*) as facts,
           count(*) filter (where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)) as still_valid
    from textrawl.fact o
    group by 1, 2, 3, 4, 5
) stored
join textrawl.space s on s.id = stored.space_id and s.tier is null
join textrawl.actor a on a.id = stored.author_id;

comment on view textrawl.memory_growth is 'Number of stored facts by space, week, entity type, source and author.';
comment on column textrawl.memory_growth.space is 'Name of the space.';
comment on column textrawl.memory_growth.week is 'Monday of the week, in the time zone of the session.';
comment on column textrawl.memory_growth.entity_type is 'Type of the entities that the facts are about.';
comment on column textrawl.memory_growth.source is 'Source of the facts: conversation, note, document or manual.';
comment on column textrawl.memory_growth.author is 'Author of the facts.';
comment on column textrawl.memory_growth.facts is 'Number of facts that were stored in the week.';
comment on column textrawl.memory_growth.still_valid is 'Number of these facts that are valid now.';
