create function textrawl.release_vector_indexes() returns void
language plpgsql volatile
set search_path from current
as $$
begin
    perform require_owner();
    -- Do not compare the process id: through a pooler, another session may have made the claim.
    update vector_index_claim set pid = null, backend_start = null where pid is not null;
end
$$;

comment on function textrawl.release_vector_indexes is
    'Release the claim of claim_vector_indexes(), whichever session made it. Error TR013: not the owner.';
