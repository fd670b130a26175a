create function textrawl.entity_summary(
    space integer, entity uuid,
    authors integer[] default null, members boolean default false,  -- only facts of these authors, see is_from_author()
    max_characters integer default null  -- of all clauses: the first that fit. Null: all
) returns text
language sql stable
begin atomic
    select string_agg(c.clause, '; ' order by c.place)
        || case when c.facts_hash is distinct from (textrawl.summarized_facts(space, entity)).hash then ' (stale)' else '' end
    from (
        select s.facts_hash, c.place, told.clause, sum(char_length(told.clause) + 2) over (order by c.place) - 2 as length
        from textrawl.summary s
        join textrawl.summary_clause c on c.space_id = s.space_id and c.entity_id = s.entity_id
        join textrawl.local_facts() o on o.space_id = c.space_id and o.id = c.observation_id and o.entity_id = c.entity_id
        cross join lateral (select c.content
            || case textrawl.find_origin(o.origin, o.tool, o.client, o.source) when 'external' then ' [external ' else ' [' end || left(c.observation_id::text, 8) || ']' as clause) told
        where s.space_id = space and s.entity_id = entity and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
          and textrawl.is_from_author(o.space_id, o.author_id, o.source, o.tool, authors, members)) c
    where max_characters is null or c.length <= max_characters
    group by c.facts_hash;
end;

comment on function textrawl.entity_summary is
    'The summary of an entity: its clauses whose facts are valid, each with the first eight characters of the id of its '
    'fact, after external if the fact is, and (stale) if the facts have changed since. Null: it has none.';
