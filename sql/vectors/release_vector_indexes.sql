create function textrawl.release_vector_indexes() returns void
language plpgsql volatile
set search_path from current
as $$
begin
    perform require_owner();
    -- Do not compare the process id. Behind a connection pooler, another session can have made the claim.
    update vector_index_claim set pid = null, backend_start = null where pid is not null;
end
$$;

comment on function textrawl.release_vector_indexes is
    'End the claim of claim_vector_indexes(), even if another session made it. Error TR013: not the owner of the '
    'memory.';
