create function textrawl.change_review(
    name text, reviewed boolean,
    proposal_days integer default null,  -- days after which proposals expire; null: never, or with only_external as before
    credential bytea default null,
    only_external boolean default false  -- change only the review of external facts
) returns table (space text, is_reviewed boolean, days integer, pending bigint, external boolean)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    target_space integer := find_space(change_review.name);
begin
    perform require_admin(credential, target_space);
    perform refuse_graphs(array[target_space]);
    if change_review.reviewed is null or change_review.proposal_days not between 1 and 3650 then
        raise exception using errcode = 'TR009', message = 'proposals expire after 1 to 3,650 days, or never';
    end if;
    update space s
    -- To begin one review does not end the other.
    set reviewed = case when only_external then s.reviewed else change_review.reviewed end,
        external_reviewed = change_review.reviewed and (only_external or s.external_reviewed),
        proposal_days = case when only_external then coalesce(change_review.proposal_days, s.proposal_days) else change_review.proposal_days end
    where s.id = target_space;
    return query
        select s.name, s.reviewed, s.proposal_days,
            (select count(*) from proposal p
             where p.space_id = s.id and is_pending(p.decision, p.created_at, s.proposal_days)),
            s.external_reviewed
        from space s where s.id = target_space;
end
$$;

comment on function textrawl.change_review is
    'Say whether writes of tokens without the scope review, or with only_external the external facts of all callers, are '
    'proposals in a space, and after how many days proposals expire. Off without only_external ends both. The next call of a client follows it. The caller must be the owner or have the scope admin in the space. '
    'Errors: TR010, TR011 (access), TR009 (wrong number of days), TR020 (no such space), TR060 (the space is a graph). '
    'Example: select * from textrawl.change_review(name => ''team'', reviewed => true, proposal_days => 30);';
