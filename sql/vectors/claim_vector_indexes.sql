create function textrawl.claim_vector_indexes(in_transaction boolean default false) returns boolean
language plpgsql volatile
set search_path from current
as $$
begin
    perform require_owner();
    -- A claim belongs to a session and ends with the session, even if the session crashes. For a session of another
    -- role, pg_stat_activity shows the process id but not backend_start.
    update vector_index_claim c
    set pid = own_session.pid, backend_start = own_session.backend_start
    from (select from vector_index_claim for update skip locked) unlocked,
         (select a.pid, a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()) own_session
    where not exists (
        select from pg_stat_activity a
        where a.pid = c.pid and a.pid <> own_session.pid
          and coalesce(a.backend_start, c.backend_start) = c.backend_start);
    if not found then
        return false;
    end if;
    if in_transaction then
        return true;
    end if;
    -- An index build is many times slower if its graph does not fit into maintenance_work_mem. Without parallel
    -- workers, Postgres allocates this memory as needed. With parallel workers, Postgres allocates all of it at the
    -- start in /dev/shm, which can be small.
    if current_setting('max_parallel_maintenance_workers')::integer = 0
        and pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('2GB') then
        perform set_config('maintenance_work_mem', '2GB', false);
    end if;
    return true;
end
$$;

comment on function textrawl.claim_vector_indexes is
    'Allow only this session to drop and build vector indexes, until release_vector_indexes() or the end of the '
    'session. Return false if another session has this claim. Error TR013: not the owner of the memory.';
