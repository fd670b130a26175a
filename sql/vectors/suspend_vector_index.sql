create function textrawl.suspend_vector_index(model integer, coming bigint) returns boolean
language plpgsql volatile
set search_path from current
set lock_timeout = '2s'
as $$
declare
    existing bigint;
    index text := (vector_index(model)).name;
begin
    if coming < 2000 or index is null then
        return false;
    end if;
    execute format('select count(*) from %I', 'embedding_' || model) into existing;
    -- Adding one vector to the index takes about a millisecond. Building the index afterwards takes less than half a
    -- millisecond for each vector.
    if coming <= existing / 2 or not claim_vector_indexes() then
        return false;
    end if;
    execute format('drop index %I', index);
    return true;
exception
    when lock_not_available then
        -- The drop waited for a long search, and all other sessions waited for the drop. So keep the index. The
        -- rollback of this block also ends the claim.
        return false;
end
$$;

comment on function textrawl.suspend_vector_index is
    'Drop the vector index of a model if more than a third of its vectors are still missing, because it is faster to '
    'build the index at the end. Return true if the index was dropped. Until the index is built with the statements of '
    'missing_vector_indexes(), searches compare every vector. Error TR013: not the owner of the memory.';
