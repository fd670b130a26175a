create function textrawl.claim_removal(alone boolean default false) returns void
language plpgsql volatile
set search_path from current
as $$
begin
    -- Before any row is locked: who waits here has nothing that others wait for.
    if alone then
        lock table removal_lock in exclusive mode;
    else
        lock table removal_lock in row share mode;
    end if;
end
$$;

comment on function textrawl.claim_removal is
    'Asked first by whoever takes facts out of the memory. Words are not counted until the transaction ends: what counts them would still see facts that go, and put their words back. Alone: nobody else takes anything out either; for what locks words, recalls and undos of several entities one after the other, in no one order.';
