create function textrawl.was_proposed(space integer, key text, content text, model integer, vector halfvec) returns boolean
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
begin
    return exists (
        select from proposal p, read_claim(p.content) a, read_claim(was_proposed.content) b
        where p.space_id = was_proposed.space and p.kind = 'fact' and p.entity_key = was_proposed.key and p.decision is distinct from 'withdrawn'
          and (fold_case(fact_key(p.content)) = fold_case(fact_key(was_proposed.content))
               or states_the_same(fact_key(p.content), fact_key(was_proposed.content))
                  -- A vector does not tell another time.
                  and (a.negative, a.past, a.event) is not distinct from (b.negative, b.past, b.event)
                  and ((a.subject, a.predicate, a.roles, a.items) = (b.subject, b.predicate, b.roles, b.items) and a.items <> '{}'
                       or p.model_id = was_proposed.model and p.vector <=> was_proposed.vector <= 0.1)));
end
$$;

comment on function textrawl.was_proposed is
    'True if a fact about an entity was proposed before, in another case or in nearly the same words, and nobody withdrew '
    'it: states_the_same(), with the same read_claim() or a cosine of at least 0.9. `key` is name_key() of the entity.';
