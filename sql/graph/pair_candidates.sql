create function textrawl.pair_candidates(home integer, entity text default null, most_pairs bigint default 200000)
returns table (
    space_id integer, entity_id uuid, name text, facts bigint,
    compared bigint  -- number of facts to compare, newest first: at most 300, or 600 if `entity` is given;
                     -- 0 if the entities before this entity use up most_pairs
)
language sql stable
begin atomic
    with sized as (
        select e.space_id, e.id, e.name, max(o.created_at) as last, count(*) as facts,
            least(count(*), case when entity is null then 300 else 600 end) as newest
        from textrawl.entity e
        join textrawl.local_facts() o on o.space_id = e.space_id and o.entity_id = e.id
        where e.space_id = home and (entity is null or e.name_key = textrawl.entity_key(home, entity))
          and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
        group by e.space_id, e.id, e.name having count(*) > 1
    ), paired as (
        select s.*, sum(newest * (newest - 1) / 2) over (order by last desc, id) as pairs from sized s
    )
    select p.space_id, p.id, p.name, p.facts, case when p.pairs <= most_pairs or entity is not null then p.newest else 0 end
    from paired p;
end;

comment on function textrawl.pair_candidates is
    'Entities with at least two facts, each with the number of newest facts that similar_observations() compares.';
