create function textrawl.collapsing_rows(space integer, kept uuid, merged uuid, moment timestamptz)
returns table (
    kind text, id uuid,        -- a fact or relation of the merged entity
    twin uuid,                 -- the same fact or relation of the kept entity
    valid_until timestamptz,   -- its end before the merge
    ended timestamptz          -- its end after the merge
)
language sql stable
begin atomic
    -- Do not end a fact whose twin ends earlier, because only the fact has the later end.
    select 'fact' as kind, o.id, twin.id, o.valid_until, greatest(moment, o.valid_from)
    from textrawl.fact o
    cross join lateral (
          select t.id, t.valid_until
          from textrawl.fact t
          where t.space_id = space and t.entity_id = kept and textrawl.is_valid(t.valid_from, t.valid_until, t.closed_at, present => moment)
            and t.content_hash = o.content_hash and (t.whole, t.part, t.repository) is not distinct from (o.whole, o.part, o.repository)
            and textrawl.is_repetition(t.valid_from, t.created_at, o.valid_from, o.created_at)
          order by t.valid_until desc nulls first, t.ordinal limit 1) twin
    where o.space_id = space and o.entity_id = merged and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment)
      and coalesce(twin.valid_until, 'infinity') >= coalesce(o.valid_until, 'infinity')
    union all
    select 'relation', r.id, twin.id, r.valid_until, greatest(moment, r.valid_from)
    from (select f.* from textrawl.relation f where f.space_id = space and f.from_entity = merged
          union
          select t.* from textrawl.relation t where t.space_id = space and t.to_entity = merged) r
    cross join lateral (
        select case when r.from_entity = merged then kept else r.from_entity end as source,
            case when r.to_entity = merged then kept else r.to_entity end as target) ends
    left join lateral (
        -- Only relations without an end must be unique.
        select l.id from textrawl.relation l
        where l.space_id = space and l.from_entity = ends.source and l.relation_type = r.relation_type
          and l.to_entity = ends.target and l.valid_until is null limit 1) twin on true
    where textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at, present => moment)
      and (twin.id is not null or ends.source = ends.target and r.from_entity <> r.to_entity);
end;

comment on function textrawl.collapsing_rows is
    'The valid facts and relations of an entity that a merge ends: because the kept entity has the same one, or because '
    'the relation connects the two entities.';
