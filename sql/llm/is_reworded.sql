create function textrawl.is_reworded(one text, other text, distance double precision) returns boolean
language plpgsql immutable parallel safe
set search_path from current
as $$
#variable_conflict use_column
begin
    return fold_case(fact_key(one)) = fold_case(fact_key(other))
        or states_the_same(fact_key(one), fact_key(other))
           and (select (a.negative, a.past, a.event) is not distinct from (b.negative, b.past, b.event)  -- a vector does not tell another time
                   and ((a.subject, a.predicate, a.roles, a.items) = (b.subject, b.predicate, b.roles, b.items) and a.items <> '{}'
                        or coalesce(distance <= 0.1, false))
                from read_claim(one) a, read_claim(other) b);
end
$$;

comment on function textrawl.is_reworded is
    'True if two facts about one entity say the same in another case or in nearly the same words: states_the_same(), with '
    'the same read_claim() or a cosine distance of at most 0.1. `distance` is null without vectors of one model.';
