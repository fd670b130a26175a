create function textrawl.assess_spaces(
    spaces integer[], types text[] default null, model integer default null,
    since timestamptz default null, until timestamptz default null,
    parts boolean default false,  -- true: only parts of journal entries are searched
    out large boolean,    -- too many facts to compare the query with every vector, so use the vector index
    out stale boolean,    -- not large, and statistics differ from the real count by more than a fifth
    out most boolean,     -- the spaces have over a third of all facts, so do not look up words by space
    out rare boolean,     -- large, but few facts have the types, the period or are parts of entries, so compare only these facts
    -- hnsw.ef_search for a recall@10 above .99 up to 6,000 facts, .95 at 10,000 and 100,000 facts, and .9 at a million
    out breadth integer,
    out own boolean,      -- only one space is given and has its own vector index for this model, so use that index
    out facts double precision,  -- in these spaces; null if they were never counted
    -- Spaces in which the order of facts has no meaning, for example after an import in the order of names.
    out unordered integer[]
)
language plpgsql stable parallel safe
set search_path from current
-- Run `count(*)` as an index scan, which stops at its `limit`. A bitmap scan would collect all rows first.
set enable_bitmapscan = off
set enable_seqscan = off
as $$
declare
    recorded_facts bigint;
    counted_facts  bigint;
    store_size     double precision;
    threshold      integer;
begin
    select sum(s.facts), array_agg(s.space_id) filter (where s.coherence < 1.2), (select m.facts from search_statistics m)
    into facts, unordered, store_size from space_statistics s where s.space_id = any(spaces);
    recorded_facts := coalesce(facts, 0);
    counted_facts := recorded_facts;
    store_size := greatest(recorded_facts, store_size);
    own := cardinality(spaces) = 1;
    if own then
        own := exists (
            select from pg_index where indexrelid = to_regclass('textrawl.' || own_index_name(model, spaces[1])) and indisvalid);
    end if;
    most := recorded_facts > store_size / 3;
    if own then
        store_size := recorded_facts;  -- the space's own index holds only the facts of this space
    end if;
    -- Statistics can be old or missing. If they report few facts, count the facts. The count stops at 4001.
    if recorded_facts <= 1500 then
        counted_facts := (select count(*) from (select from observation where space_id = any(spaces) limit 4001) o);
    end if;
    store_size := greatest(store_size, counted_facts);
    -- One comparison of two vectors takes 0.8 microseconds. The smaller the share of these spaces in the store, the
    -- more index entries a search reads in vain. Comparing every vector and using the index take the same time if the
    -- spaces have 40 times the square root of the number of facts in the store.
    threshold := 40 * sqrt(store_size);
    large := counted_facts > greatest(threshold, 1500);
    stale := counted_facts <= 4000 and abs(counted_facts - recorded_facts) > 0.2 * counted_facts;
    if stale then
        facts := counted_facts;
    end if;
    threshold := greatest(threshold / 3, 1500);
    rare := large and (parts or num_nonnulls(types, since, until) > 0);
    if rare then
        rare :=
            types is not null and threshold >= (
                select count(*) from (
                    select from observation where space_id = any(spaces) and entity_type = any(types) limit threshold + 1) o)
            or num_nonnulls(since, until) > 0 and threshold >= (
                select count(*) from (
                    select from observation
                    where space_id = any(spaces) and said_at >= coalesce(since, '-infinity') and said_at <= coalesce(until, 'infinity')
                    limit threshold + 1) o)
            -- An entry has one part or more, so count the entries first.
            or parts and threshold >= (
                select count(*) from (select from journal_entry where space_id = any(spaces) limit threshold + 1) j)
            and threshold >= (
                select count(*) from (
                    select from journal_entry j
                    join document d on d.space_id = j.space_id and d.id = j.document_id
                    join observation o on o.space_id = d.space_id and o.entity_id = d.entity_id and o.whole = d.id
                    where j.space_id = any(spaces) limit threshold + 1) o);
    end if;
    breadth := case when store_size <= 6000 then 160 when store_size <= 30000 then 80 when store_size <= 300000 then 160 else 320 end;
end
$$;

comment on function textrawl.assess_spaces is
    'Choose how to search a set of spaces: by the vector index or by comparing every vector. '
    'Example: select * from textrawl.assess_spaces(array[1]);';
