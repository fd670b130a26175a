create function textrawl.claim_vector_indexes() returns boolean
language plpgsql volatile
set search_path from current
as $$
begin
    perform require_owner();
    -- Of the session: it ends with whoever was at it, however they end.
    if not pg_try_advisory_lock(hashtextextended('textrawl.vector_index', 0)) then
        return false;
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
    'Makes this session the one that drops and builds indexes of vectors, until it ends; false: another one is. Error TR013: not the owner.';
