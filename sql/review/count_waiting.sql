create function textrawl.count_waiting(space integer default null, credential bytea default null) returns bigint
language sql stable security definer
set search_path from current
begin atomic
    select count(*)
    from textrawl.proposal p join textrawl.space s on s.id = p.space_id
    where p.space_id = any(textrawl.reviewed_spaces(credential, count_waiting.space))
      and textrawl.is_pending(p.decision, p.created_at, s.proposal_days);
end;

comment on function textrawl.count_waiting is
    'The number of pending proposals that wait for a decision of the caller, in the spaces in which the caller has the '
    'scopes read and review. Example: select textrawl.count_waiting();';
