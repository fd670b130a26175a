create function textrawl.suspend_vector_index(model integer, coming bigint) returns boolean
language plpgsql volatile
set search_path from current
set lock_timeout = '2s'
as $$
declare
    there bigint;
    index text := (vector_index(model)).name;
begin
    if coming < 2000 or index is null then
        return false;
    end if;
    execute format('select count(*) from %I', 'embedding_' || model) into there;
    -- A vector costs about a millisecond in the index, and less than half of that in one built at once.
    if coming <= there / 2 or not claim_vector_indexes() then
        return false;
    end if;
    execute format('drop index %I', index);
    return true;
exception
    when lock_not_available then
        -- It waited for a long search, and everybody for it. The claim is undone with the rest.
        return false;
end
$$;

comment on function textrawl.suspend_vector_index is
    'Drops the index of a model''s vectors when more than a third of them are still to come, so that it is built at once from all; missing_vector_indexes() tells how. Searches compare with every vector until then. False when it is kept. Error TR013: not the owner.';
