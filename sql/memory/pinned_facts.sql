create function textrawl.pinned_facts(spaces integer[]) returns table (
    space_id integer,
    pinned uuid,         -- the fact that was pinned
    observation_id uuid, -- the fact that has replaced it, or itself
    author_id integer, pinned_at timestamptz
)
language sql stable rows 12
begin atomic
    with recursive successor as (
        select p.space_id, p.fact_id as pinned, f.id, f.replaced_by, p.author_id, p.pinned_at, 1 as step
        from textrawl.pin p join textrawl.fact f on f.space_id = p.space_id and f.id = p.fact_id
        where p.space_id = any(spaces)
        union all
        select s.space_id, s.pinned, f.id, f.replaced_by, s.author_id, s.pinned_at, s.step + 1
        from successor s join textrawl.fact f on f.space_id = s.space_id and f.id = s.replaced_by
        where s.step < 100
    )
    select distinct on (s.space_id, s.pinned) s.space_id, s.pinned, s.id, s.author_id, s.pinned_at
    from successor s order by s.space_id, s.pinned, s.step desc;
end;

comment on function textrawl.pinned_facts is
    'The pins of spaces that the caller may read, each with the fact that counts now: the one that was pinned, or its last successor.';
