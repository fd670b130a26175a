create view textrawl.memory_origins with (security_invoker) as
select s.name as space, textrawl.find_origin(o.origin, o.tool, o.client, o.source) as origin, o.source, o.tool, count(*) as facts,
       count(*) filter (where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)) as valid_facts, max(o.created_at) as newest
from textrawl.fact o
join textrawl.space s on s.id = o.space_id and s.tier is null
group by 1, 2, 3, 4;

comment on view textrawl.memory_origins is 'Facts by origin: said, inferred or external, and by the source and the tool that they came with.';
comment on column textrawl.memory_origins.space is 'Name of the space.';
comment on column textrawl.memory_origins.origin is 'Origin of the facts, as in memory_observations.';
comment on column textrawl.memory_origins.source is 'Source of the facts: conversation, note, document or manual.';
comment on column textrawl.memory_origins.tool is 'Tool that wrote the facts; sql if they were written from psql.';
comment on column textrawl.memory_origins.facts is 'Number of facts, also ended ones.';
comment on column textrawl.memory_origins.valid_facts is 'Number of facts that are valid now.';
comment on column textrawl.memory_origins.newest is 'Time when the newest of them was stored.';
