create function textrawl.known_end(
    space integer, fact uuid, relation uuid, valid_until timestamptz, known_at timestamptz
) returns timestamptz
language sql stable
begin atomic
    -- Each of these events has the end from before it. So the first event after the time says which end was known.
    select case when later.id is null then known_end.valid_until else later.until end
    from (select) one
    left join lateral (
        select e.id, (e.detail ->> 'until')::timestamptz as until from textrawl.event e
        where e.space_id = space and e.at > known_at and e.detail ? 'replaced' and e.detail ->> 'replaced' = fact::text
          and e.action in ('replaced', 'revised') and e.detail ? 'until'
        union all
        select e.id, (e.detail ->> 'until')::timestamptz from textrawl.event e
        where e.space_id = space and e.at > known_at and e.observation_id = fact and e.action in ('ended', 'faded')
        union all
        select e.id, (e.detail -> 'before' ->> 'valid_until')::timestamptz from textrawl.event e
        where e.space_id = space and e.at > known_at and e.observation_id = fact and e.detail -> 'before' ? 'valid_until'
        union all
        select e.id, (e.detail ->> 'until')::timestamptz from textrawl.event e
        where e.space_id = space and e.at > known_at and e.relation_id = relation and e.action = 'ended'
        order by 1 limit 1) later on true;
end;

comment on function textrawl.known_end is
    'The end of a fact or a relation as the memory knew it at a time, from the trail. `valid_until` is its present end. '
    'Example: select textrawl.known_end(f.space_id, f.id, null, f.valid_until, ''2026-01-31'') from textrawl.fact f;';
