create function textrawl.withdraw_queries(space integer, facts uuid[], name text default null) returns void
language sql volatile
begin atomic
    with recalled_fact as materialized (
        -- A fact without a row in `recalled` was in no answer. Do not search the log for such a fact.
        select array_agg(r.observation_id) as facts from textrawl.recalled r
        where r.space_id = space and r.observation_id = any(withdraw_queries.facts)
    ), concerned as materialized (
        -- Lock rows in one order. An answer can contain facts of several entities, so two sessions that forget
        -- different entities can lock the same rows.
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
    'Remove the given facts from the recall log. Also remove the text of each query that contains the given name or '
    'whose answer contained one of the facts. The tokens and times of the recalls stay.';
