create function textrawl.release_vector_indexes() returns void
language plpgsql volatile
set search_path from current
as $$
begin
    perform require_owner();
    -- Whatever its number: through a pooler another session may be the one that made the claim.
    update vector_index_claim set pid = null, backend_start = null where pid is not null;
end
$$;

comment on function textrawl.release_vector_indexes is
    'Gives back what claim_vector_indexes() took, for whoever made the claim. Error TR013: not the owner.';
