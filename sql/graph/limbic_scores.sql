create function textrawl.limbic_scores(
    space integer, entities uuid[], distances double precision[], ranks double precision[],
    moment timestamptz default clock_timestamp()
) returns table (
    entity_id uuid, importance double precision, temporal double precision, cooc double precision, score double precision
)
language sql stable
set search_path from current
begin atomic
    with candidate as materialized (
        select given.id, given.distance, given.rank, e.created_at,
            coalesce(used.times, 0) as times, coalesce(used.days, 0) as days, used.last_at,
            (select count(*) from textrawl.relation r where r.space_id = limbic_scores.space and r.from_entity = given.id)
            + (select count(*) from textrawl.relation r where r.space_id = limbic_scores.space and r.to_entity = given.id) as degree
        from unnest(entities, distances, ranks) given(id, distance, rank)
        join textrawl.entity e on e.space_id = limbic_scores.space and e.id = given.id
        left join lateral (
            select sum(u.count)::double precision as times, count(*)::double precision as days, max(u.last_at) as last_at
            from textrawl.entity_use u where u.space_id = limbic_scores.space and u.entity_id = given.id) used on true
    ), bounds as (
        select max(c.times) as times, max(c.days) as days, min(c.rank) as low, max(c.rank) as high from candidate c
    ), part as (
        select c.id,
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
    'How candidates of search_semantic rank: relevance (1 - distance; where only words found one, its rank between the lowest and highest, from 0.2 to 0.8) times how often, how lately and with which of the others it was looked at. Computed from counters when asked; nothing has to be refreshed.';
