create function textrawl.similar_observations(
    entity text default null, model integer default null,
    threshold double precision default 0.85, containment double precision default 0.7, max_rows integer default 500,
    most_pairs bigint default 200000, most_compared bigint default 20000,
    space integer default null, credential bytea default null
) returns table (
    entity_name text,
    total bigint,  -- number of facts of the entity
    one text, other text,
    similarity double precision,
    match_type text  -- cosine or, if one text is at least twice as long, containment: see text_containment()
)
language plpgsql stable security definer rows 100
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    home integer := graph_space(credential, space);
begin
    return query
        with chosen as materialized (
            select c.* from pair_candidates(home, similar_observations.entity, most_pairs) c where c.compared > 0
        ), fact as materialized (
            select o.id, o.entity_id, o.whole, c.name, c.facts, o.content, char_length(o.content) as length, o.created_at, v.vector
            from chosen c
            cross join lateral (
                select o.id, o.entity_id, o.whole, o.content, o.created_at from local_facts() o
                where o.space_id = c.space_id and o.entity_id = c.entity_id and is_valid(o.valid_from, o.valid_until, o.closed_at)
                order by o.created_at desc, o.id limit c.compared) o
            left join embedding v on v.model_id = similar_observations.model and v.space_id = c.space_id and v.observation_id = o.id
        ), compared as materialized (
            -- Join the texts later, because each text belongs to hundreds of pairs.
            select a.id, b.id as other, a.length as one_length, b.length as other_length,
                nullif(1 - (a.vector <=> b.vector), 'nan') as cosine
            from fact a join fact b on b.entity_id = a.entity_id and (b.created_at, b.id) > (a.created_at, a.id)
                and (a.whole = b.whole) is not true
        ), pair as (
            select n.id, n.other, n.cosine as share, 'cosine' as kind from compared n where n.cosine >= threshold
            union all
            -- Comparing words takes longest. So compare words only for the first most_compared pairs that do not match
            -- by their vectors.
            select n.id, n.other, n.contained, 'containment' from (
                select o.id, o.other, text_containment(a.content, b.content) as contained
                from (select n.id, n.other from compared n
                      where n.cosine >= threshold is not true
                        and greatest(n.one_length, n.other_length) >= 2.0 * least(n.one_length, n.other_length)
                      limit most_compared) o
                join fact a on a.id = o.id join fact b on b.id = o.other) n
            where n.contained >= containment
        )
        select a.name, a.facts, a.content, b.content, p.share, p.kind
        from pair p join fact a on a.id = p.id join fact b on b.id = p.other
        order by a.name, a.created_at, a.id, b.content limit max_rows;
end
$$;

comment on function textrawl.similar_observations is
    'Pairs of facts of one entity that seem to state the same. The newest 300 facts of each entity are compared, or '
    'the newest 600 of the given entity. At most most_pairs pairs of vectors and most_compared pairs of texts are '
    'compared. Errors: TR010, TR011 (access). '
    'Example: select one, other, similarity from textrawl.similar_observations(''Ada'');';
