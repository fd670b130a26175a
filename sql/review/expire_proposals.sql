create function textrawl.expire_proposals() returns bigint
language sql volatile security definer
set search_path from current
begin atomic
    with due as materialized (
        -- Skip rows that another session is deciding.
        select p.space_id, p.id from textrawl.proposal p join textrawl.space s on s.id = p.space_id
        where p.decision is null
          and (not textrawl.is_pending(p.decision, p.created_at, s.proposal_days)
               or p.finding is not null and textrawl.finding_fault(p.space_id, p.kind, p.one, p.other) is not null)
        order by p.space_id, p.id for update of p skip locked
    ), expired as (
        delete from textrawl.proposal p using due where p.space_id = due.space_id and p.id = due.id
        returning p.space_id, p.id, p.author_id
    ), logged as (
        insert into textrawl.event (space_id, actor_id, tool, action, detail)
        select e.space_id, e.author_id, 'upkeep', 'expired', jsonb_build_object('proposal', e.id) from expired e
    )
    select count(*) from expired;
end;

comment on function textrawl.expire_proposals is
    'Delete pending proposals that are older than the days that their space allows, and findings that are gone. Return '
    'the number of deleted proposals. Servers call this every hour.';
