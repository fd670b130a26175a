create function textrawl.claim_removal(alone boolean default false) returns void
language plpgsql volatile
set search_path from current
as $$
begin
    -- Call this before locking any row. A session that waits here then holds no lock that other sessions need.
    if alone then
        lock table removal_lock in exclusive mode;
    else
        lock table removal_lock in row share mode;
    end if;
end
$$;

comment on function textrawl.claim_removal is
    'Announce that this transaction removes facts. Until the transaction ends, no session counts words, because the '
    'count would still include the removed facts. If "alone" is true, no other session can remove facts meanwhile. Set '
    '"alone" before you lock rows of several entities without a fixed order.';
