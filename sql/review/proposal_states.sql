create function textrawl.proposal_states(space integer, proposals uuid[], withdrawn bigint[])
returns table (id uuid, decision text, decided_at timestamptz, decided_by integer, observation_id uuid, relation_id uuid)
language sql stable
begin atomic
    -- The state follows from the events that are not withdrawn. An acceptance wins, because its fact is stored.
    select p.id, case when proposed.id is null then 'withdrawn' else last.action end,
        case when proposed.id is null then coalesce(p.decided_at, now()) else last.at end,
        case when proposed.id is not null then last.actor_id end,
        case when proposed.id is not null then last.observation_id end,
        case when proposed.id is not null then last.relation_id end
    from textrawl.proposal p
    left join lateral (
        select e.id from textrawl.event e
        where e.space_id = space and e.detail ? 'proposal' and e.detail ->> 'proposal' = p.id::text and e.action = 'proposed'
          and e.id <> all(withdrawn) limit 1) proposed on true
    left join lateral (
        select e.* from textrawl.event e
        where e.space_id = space and e.detail ? 'proposal' and e.detail ->> 'proposal' = p.id::text
          and e.action in ('accepted', 'rejected') and e.id <> all(withdrawn)
        order by e.action, e.id desc limit 1) last on true
    where p.space_id = space and p.id = any(proposals);
end;

comment on function textrawl.proposal_states is
    'The decisions of proposals as if the given events had never happened: accepted, rejected, withdrawn (nobody '
    'proposed it), or null for pending.';
