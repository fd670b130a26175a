create function textrawl.plan_review(space integer, taken bigint[], withdrawn bigint[])
returns table (
    -- As in plan_space_undo():
    action text, kind text, id uuid, entity_id uuid, event_id bigint, former jsonb
)
language sql stable
begin atomic
    select 'reset', 'proposal', p.id, null::uuid, null::bigint,
        jsonb_build_object('decision', s.decision)
    from textrawl.proposal_states(
        space,
        array(select distinct (e.detail ->> 'proposal')::uuid from textrawl.event e
              where e.space_id = space and e.id = any(taken) and e.action in ('proposed', 'accepted', 'rejected')),
        withdrawn) s
    join textrawl.proposal p on p.space_id = space and p.id = s.id
    where p.decision is distinct from s.decision;
end;

comment on function textrawl.plan_review is
    'The proposals whose decision changes by the undo of some events: they are pending again, or withdrawn.';
