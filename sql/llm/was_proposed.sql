create function textrawl.was_proposed(
    space integer, keys text[], content text, model integer, vector halfvec
) returns boolean
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
begin
    return exists (
        select from proposal p
        where p.space_id = was_proposed.space and p.kind = 'fact' and p.entity_key = any(keys) and p.decision is distinct from 'withdrawn'
          and is_reworded(p.content, was_proposed.content, case when p.model_id = was_proposed.model then p.vector <=> was_proposed.vector end));
end
$$;

comment on function textrawl.was_proposed is
    'True if a fact about an entity was proposed before, in the same or nearly the same words, and nobody withdrew it: see '
    'is_reworded(). `keys` are the entity_keys() of the entity.';
