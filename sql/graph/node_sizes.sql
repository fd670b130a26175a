create function textrawl.node_sizes(
    entity text default null, larger boolean default false,
    max_rows integer default 200, most_texts bigint default 2000,
    space integer default null, credential bytea default null
) returns table (
    number bigint, name text, entity_type text,
    facts bigint,        -- valid facts
    threshold integer,   -- an entity with more facts should be split, see split_threshold()
    observations text[]  -- texts of the facts; empty if the entities up to this one have more than most_texts facts
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.graph_space(credential, node_sizes.space) as home
    ), sized as materialized (
        select e.space_id, e.id, e.name, textrawl.free_type(e.entity_type, e.metadata) as entity_type,
            (select count(*) from textrawl.local_facts() o
             where coalesce(o.part, 1) = 1 and o.space_id = e.space_id and o.entity_id = e.id
               and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)) as facts
        from textrawl.local_entities() e
        where e.space_id = (select home from scope) and (entity is null or e.name_key = textrawl.entity_key((select home from scope), entity))
    ), chosen as materialized (
        select s.*, sum(s.facts) over (order by s.facts desc, s.name, s.id) as running
        from sized s
        where not larger or s.facts > textrawl.split_threshold(s.entity_type)
        order by s.facts desc, s.name, s.id limit max_rows
    )
    -- Return texts until the entities have most_texts facts together. An entity gets all its texts or no text. An
    -- entity that the caller named gets its newest texts, because an empty list would not answer the caller.
    select textrawl.node_number(c.id), c.name, c.entity_type, c.facts, textrawl.split_threshold(c.entity_type),
        case when c.running <= most_texts or entity is not null and most_texts > 0 then array(
            select newest.content from (
                select string_agg(o.content, '' order by o.part) as content, min(o.created_at) as at, coalesce(o.whole, o.id) as id
                from textrawl.local_facts() o
                where o.space_id = c.space_id and o.entity_id = c.id and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
                group by coalesce(o.whole, o.id)
                order by 2 desc, 3 desc limit most_texts) newest
            order by newest.at, newest.id)
        else '{}' end
    from chosen c
    order by c.facts desc, c.name, c.id;
end;

comment on function textrawl.node_sizes is
    'Entities with their number of facts and the number above which they should be split, the largest first. By '
    'default the function returns all entities. If "entity" is given, it returns only this entity. If "larger" is '
    'true, it returns only entities that should be split. Errors: TR010, TR011 (access). '
    'Example: select name, facts, threshold from textrawl.node_sizes(larger => true, most_texts => 0);';
