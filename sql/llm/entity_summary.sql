create function textrawl.entity_summary(
    space integer, entity uuid,
    authors integer[] default null, members boolean default false  -- only facts of these authors, see is_from_author()
) returns text
language sql stable
begin atomic
    select string_agg(c.content || ' [' || left(c.observation_id::text, 8) || ']', '; ' order by c.place)
        || case when s.facts_hash is distinct from (textrawl.summarized_facts(space, entity)).hash then ' (stale)' else '' end
    from textrawl.summary s
    join textrawl.summary_clause c on c.space_id = s.space_id and c.entity_id = s.entity_id
    join textrawl.fact o on o.space_id = c.space_id and o.id = c.observation_id and o.entity_id = c.entity_id
    where s.space_id = space and s.entity_id = entity and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
      and textrawl.is_from_author(o.space_id, o.author_id, o.source, o.tool, authors, members)
    group by s.facts_hash;
end;

comment on function textrawl.entity_summary is
    'The summary of an entity: its clauses whose facts are valid, each with the first eight characters of the id of its '
    'fact, and (stale) if the facts have changed since. Null: it has none.';
