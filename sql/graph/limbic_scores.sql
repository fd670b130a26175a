create function textrawl.limbic_scores(
    space integer, entities uuid[], distances double precision[], ranks double precision[],
    moment timestamptz default clock_timestamp()
) returns table (
    entity_id uuid,
    importance double precision,  -- from uses, days of use and relations, relative to the other candidates
    temporal double precision,    -- freshness of the last use, see limbic_decay()
    cooc double precision,        -- from uses together with other candidates
    score double precision
)
language sql stable
begin atomic
    with candidate as materialized (
        select input.id, input.distance, input.rank, e.created_at,
            coalesce(uses.times, 0) as times, coalesce(uses.days, 0) as days, uses.last_at,
            (select count(*) from textrawl.relation r where r.space_id = limbic_scores.space and r.from_entity = input.id)
            + (select count(*) from textrawl.relation r where r.space_id = limbic_scores.space and r.to_entity = input.id) as degree
        from unnest(entities, distances, ranks) input(id, distance, rank)
        join textrawl.entity e on e.space_id = limbic_scores.space and e.id = input.id
        left join lateral (
            select sum(u.count)::double precision as times, count(*)::double precision as days, max(u.last_at) as last_at
            from textrawl.entity_use u where u.space_id = limbic_scores.space and u.entity_id = input.id) uses on true
    ), bounds as (
        select max(c.times) as times, max(c.days) as days, min(c.rank) as low, max(c.rank) as high from candidate c
    ), part as (
        select c.id,
            -- An entity that was found only by words has no distance. Scale its rank to the range from 0.2 to 0.8.
            case when c.distance is not null then greatest(0, 1 - c.distance)
                 when b.high > b.low then 0.2 + 0.6 * (c.rank - b.low) / (b.high - b.low)
                 else 0.8 end as relevance,
            case when b.times > 0 then
                ln(1 + c.times) / ln(1 + b.times) * (1 + 0.15 * least(c.degree, 15) / 15.0)
                * case when b.days > 1 then 1 + 0.2 * ln(1 + c.days) / ln(1 + b.days) else 1 end
                else 0 end as importance,
            textrawl.limbic_decay(coalesce(c.last_at, c.created_at), moment) as temporal,
            coalesce((
                select sum(ln(1 + j.count::double precision) / ln(2::double precision) * textrawl.limbic_decay(j.last_at, moment))
                from candidate o
                join textrawl.joint_use j on j.space_id = limbic_scores.space
                    and j.one = least(c.id, o.id) and j.other = greatest(c.id, o.id)
                where o.id <> c.id), 0) as cooc
        from candidate c cross join bounds b
    )
    select part.id, part.importance, part.temporal, part.cooc,
        part.relevance * (1 + 0.5 * part.importance) * part.temporal * (1 + 0.01 * part.cooc)
    from part;
end;

comment on function textrawl.limbic_scores is
    'Rank candidates of search_semantic(). The score is the relevance times the freshness, raised by frequent use and '
    'by use together with other candidates. Each call computes the scores from the tables entity_use and joint_use.';
