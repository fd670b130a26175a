create function textrawl.find_duplicates(space integer, facts textrawl.new_fact[], replaced uuid, model integer) returns uuid[]
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    known uuid[] := array_fill(null::uuid, array[cardinality(facts)]);
    twin  record;
begin
    -- In the order in which they are told: what is itself a duplicate is not stored, so nothing can be one of it.
    for twin in
        select * from duplicate_candidates(space, facts, replaced, model)
        -- Of several that are as near the one that was there first.
        order by place, distance nulls first, earlier nulls first, ordinal
    loop
        continue when known[twin.place] is not null or known[twin.earlier] is not null;
        -- Texts are compared last, nearest first, until one states the same.
        if twin.distance is null or states_the_same(twin.content, facts[twin.place].content) then
            known[twin.place] := twin.id;
        end if;
    end loop;
    return known;
end
$$;

comment on function textrawl.find_duplicates is
    'For each of some new facts the valid one of its entity that says the same, among those stored and those told before it: equal but for case, white space and final punctuation, else cosine >= 0.95 and states_the_same(); null: there is none.';
