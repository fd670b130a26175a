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
    -- Adding a vector to the index takes about a millisecond; a build from all vectors takes less than half of that for each.
    if coming <= existing / 2 or not claim_vector_indexes() then
        return false;
    end if;
    execute format('drop index %I', index);
    return true;
exception
    when lock_not_available then
        -- The lock waited for a long search, and everybody else waited for the lock. The rollback also undoes the claim.
        return false;
end
$$;

comment on function textrawl.suspend_vector_index is
    'Drop the vector index of a model if more than a third of its vectors are still to come, and return true: building it '
    'at the end is faster. Until missing_vector_indexes() rebuilds it, searches compare every vector. Error TR013: not the '
    'owner.';
