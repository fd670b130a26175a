create function textrawl.claim_removal(alone boolean default false) returns void
language plpgsql volatile
set search_path from current
as $$
begin
    -- Call this before locking any row: then a session that waits here holds nothing that others need.
    if alone then
        lock table removal_lock in exclusive mode;
    else
        lock table removal_lock in row share mode;
    end if;
end
$$;

comment on function textrawl.claim_removal is
    'Announce that this transaction removes facts: words are not counted until it ends, because a count would still include '
    'the removed facts. With alone, nothing else is removed meanwhile: needed to lock rows of several entities in no fixed '
    'order.';
