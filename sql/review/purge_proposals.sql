create function textrawl.purge_proposals(space integer, older_than interval) returns void
language sql volatile
begin atomic
    delete from textrawl.proposal p
    where p.space_id = space and p.decision is not null
      and (older_than is null or p.decided_at < now() - older_than);
end;

comment on function textrawl.purge_proposals is
    'Delete decided proposals with their texts. Accepted facts stay. An undo of a purged acceptance removes the fact, and '
    'the proposal does not come back.';
