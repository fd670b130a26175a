create function textrawl.is_pending(decision text, created_at timestamptz, proposal_days integer) returns boolean
language sql stable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it.
    select decision is null
        and (proposal_days is null or created_at > statement_timestamp() - make_interval(days => proposal_days));
end;

comment on function textrawl.is_pending is
    'True if a proposal is neither decided nor expired. The number of days is space.proposal_days. '
    'Example: select textrawl.is_pending(null, now() - interval ''8 days'', 7);';
