create function textrawl.withdraw_queries(space integer, facts uuid[], name text default null) returns void
language sql volatile
set search_path from current
begin atomic
    with asked as materialized (
        -- What was never recalled is in no answer: then nothing has to be looked through for it.
        select array_agg(r.observation_id) as facts from textrawl.recalled r
        where r.space_id = space and r.observation_id = any(withdraw_queries.facts)
    ), concerned as materialized (
        -- In one order: an answer held facts of several entities.
        select r.id from textrawl.recall r, asked
        where r.space_id = space and (asked.facts is not null or withdraw_queries.name is not null)
          and (r.facts && asked.facts or strpos(lower(r.query), lower(withdraw_queries.name)) > 0)
        order by r.id for update of r
    )
    update textrawl.recall r
    set query = null, query_hash = null,
        facts = array(select f.id from unnest(r.facts) with ordinality f (id, place)
                      where f.id <> all(withdraw_queries.facts) order by f.place)
    from concerned where r.space_id = space and r.id = concerned.id;
end;

comment on function textrawl.withdraw_queries is
    'Takes out of the log of recalls what was asked about facts, or about an entity by its name, that are to be forgotten. What it cost stays.';
