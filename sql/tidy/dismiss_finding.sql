create function textrawl.dismiss_finding(rejected textrawl.proposal, origin textrawl.origin) returns bigint
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    candidate text := case when rejected.kind = 'merge' then 'same' when rejected.finding in ('disagreement', 'double') then 'close' else 'stale' end;
begin
    if rejected.kind not in ('merge', 'end') or finding_fault(rejected.space_id, rejected.kind, rejected.one, rejected.other) is not null then
        return null;
    end if;
    return record_dismissal(candidate, rejected.one, case when candidate = 'stale' then rejected.one else rejected.other end, origin);
end
$$;

comment on function textrawl.dismiss_finding is
    'Dismiss what a rejected proposal would merge or end, as dismiss_candidates() does, and return the event. Null: '
    'somebody had dismissed it, or it is no such proposal.';
