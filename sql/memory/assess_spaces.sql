create function textrawl.assess_spaces(
    spaces integer[], types text[] default null, model integer default null,
    out large boolean,    -- too many facts to compare the query with every vector: ask the vector index
    out stale boolean,    -- not large, and the statistics differ from the real count by more than a fifth
    out most boolean,     -- large, and more than a third of all facts: do not look up words by space
    out rare boolean,     -- large, but few facts have the given types: compare those one by one
    out breadth integer,  -- hnsw.ef_search for a recall above .95 at 100,000 facts and .9 at a million
    out own boolean       -- a single space that has its own vector index for this model: ask that index
)
language plpgsql stable parallel safe
set search_path from current
-- Keep `count(*)` under a `limit` on an index scan, which stops at the limit. A bitmap scan would collect all rows first.
set enable_bitmapscan = off
set enable_seqscan = off
as $$
declare
    recorded_facts bigint := coalesce((select sum(facts) from space_statistics where space_id = any(spaces)), 0);
    counted_facts  bigint := recorded_facts;
    store_size     double precision := greatest(recorded_facts, (select facts from search_statistics));
    threshold      integer;
begin
    own := cardinality(spaces) = 1 and has_own_index(spaces[1], model);
    most := recorded_facts > store_size / 3;
    if own then
        store_size := recorded_facts;  -- its own index holds only this space
    end if;
    -- Comparing one vector takes 0.8 microseconds. The index reads more entries the smaller the share of these spaces is.
    -- The two cost the same at 40 times the square root of the store's size.
    threshold := 40 * sqrt(store_size);
    -- Statistics can be old or missing, so count the facts if they report few. The count stops at 4001.
    if recorded_facts <= 4000 then
        counted_facts := (select count(*) from (select from observation where space_id = any(spaces) limit 4001) o);
    end if;
    large := counted_facts > case when recorded_facts > 4000 then greatest(threshold, 6000) else 4000 end;
    stale := counted_facts <= 4000 and abs(counted_facts - recorded_facts) > 0.2 * counted_facts;
    most := large and most;
    threshold := greatest(threshold / 3, 1500);
    rare := large and types is not null and threshold >= (
        select count(*) from (
            select from observation where space_id = any(spaces) and entity_type = any(types) limit threshold + 1) o);
    breadth := case when store_size <= 300000 then 160 else 320 end;
end
$$;

comment on function textrawl.assess_spaces is
    'Choose how to search a set of spaces: by vector index or by comparing every vector. '
    'Example: select * from textrawl.assess_spaces(array[1]);';
