create function textrawl.claim_vector_indexes(in_transaction boolean default false) returns boolean
language plpgsql volatile
set search_path from current
as $$
begin
    perform require_owner();
    -- Of the session: a claim is void once whoever made it has ended, however they ended. A session
    -- of another owner shows its number alone.
    update vector_index_claim c
    set pid = mine.pid, backend_start = mine.backend_start
    from (select from vector_index_claim for update skip locked) free,
         (select a.pid, a.backend_start from pg_stat_activity a where a.pid = pg_backend_pid()) mine
    where not exists (
        select from pg_stat_activity a
        where a.pid = c.pid and a.pid <> mine.pid
          and coalesce(a.backend_start, c.backend_start) = c.backend_start);
    if not found then
        return false;
    end if;
    if in_transaction then
        return true;
    end if;
    -- A graph that does not fit is built many times slower. It is taken as it grows, but by parallel
    -- workers, who take all of it at once from what may be small: /dev/shm.
    if current_setting('max_parallel_maintenance_workers')::integer = 0
        and pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('2GB') then
        perform set_config('maintenance_work_mem', '2GB', false);
    end if;
    return true;
end
$$;

comment on function textrawl.claim_vector_indexes is
    'Makes this session the one that drops and builds indexes of vectors, until release_vector_indexes() or its end; in a transaction that stays open no other one can; false: another one is. Error TR013: not the owner.';
