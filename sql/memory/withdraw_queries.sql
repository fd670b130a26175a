create function textrawl.withdraw_queries(space integer, facts uuid[], name text default null) returns void
language sql volatile
set search_path from current
begin atomic
    with recalled_fact as materialized (
        -- A fact that was never recalled is in no answer: then the log need not be searched.
        select array_agg(r.observation_id) as facts from textrawl.recalled r
        where r.space_id = space and r.observation_id = any(withdraw_queries.facts)
    ), concerned as materialized (
        -- Lock in one order: an answer can hold facts of several entities.
        select r.id from textrawl.recall r, recalled_fact
        where r.space_id = space and (recalled_fact.facts is not null or withdraw_queries.name is not null)
          and (r.facts && recalled_fact.facts or strpos(lower(r.query), lower(withdraw_queries.name)) > 0)
        order by r.id for update of r
    )
    update textrawl.recall r
    set query = null, query_hash = null,
        facts = array(select f.id from unnest(r.facts) with ordinality f (id, place)
                      where f.id <> all(withdraw_queries.facts) order by f.place)
    from concerned where r.space_id = space and r.id = concerned.id;
end;

comment on function textrawl.withdraw_queries is
    'Remove from the recall log the queries about facts, or about an entity by name, that will be forgotten. The costs '
    'stay.';
