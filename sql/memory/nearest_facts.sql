-- Load the library of pgvector. Until it is loaded, only a superuser can attach its settings to a function.
do $$ begin perform '[1]'::halfvec; end $$;

create function textrawl.nearest_facts(
    model integer, vector halfvec, spaces integer[], entity_types text[], as_of timestamptz,
    candidates integer, large boolean, rare boolean, breadth integer, own boolean default false,
    since timestamptz default null, until timestamptz default null,
    parts boolean default false  -- true: only parts of journal entries
)
returns table (space_id integer, id uuid, cosine double precision)
language plpgsql stable rows 50
set search_path from current
set hnsw.iterative_scan = relaxed_order
set hnsw.ef_search = 80
-- By default a scan stops after 20,000 tuples. It then returns too few rows for a space with 5 % of a million facts.
set hnsw.max_scan_tuples = 60000
set hnsw.scan_mem_multiplier = 2
as $$
declare
    vectors   text := 'embedding_' || model;
    condition text := 'is_valid(o.valid_from, o.valid_until, o.closed_at, $4)';
    -- Each call plans its statement anew. `offset 0` halves this time, because the planner then does not compare the
    -- many indexes of observation as ways to join it. But it looks up each fact, which takes long if a filter leaves out
    -- most of them.
    fact      constant text := '(
        select from observation o where o.space_id = v.space_id and o.id = v.observation_id and %s'
        || case when num_nonnulls(entity_types, as_of, since, until) = 0 and not parts then ' offset 0' else '' end || ') o';
begin
    if vector is null then
        return;
    end if;
    if entity_types is not null then
        condition := condition || ' and o.entity_type = any($3)';
    end if;
    if num_nonnulls(since, until) > 0 then
        condition := condition || ' and is_within(o.said_at, $6, $7)';
    end if;
    if parts then
        condition := condition || ' and exists (
            select from journal_entry j where j.space_id = o.space_id and j.document_id = o.whole)';
    end if;
    if rare and parts then
        return query execute format($sql$
            select o.space_id, o.id, nullif(1 - (v.vector <=> $1), 'nan')
            from journal_entry j
            join document d on d.space_id = j.space_id and d.id = j.document_id
            join observation o on o.space_id = d.space_id and o.entity_id = d.entity_id and o.whole = d.id
            join %I v on v.space_id = o.space_id and v.observation_id = o.id
            where j.space_id = any($2) and is_valid(o.valid_from, o.valid_until, o.closed_at, $3)
            order by (v.vector <=> $1) + 0 limit $4$sql$, vectors)
        using vector, spaces, as_of, candidates;
    elsif rare then
        return query execute format($sql$
            select o.space_id, o.id, nullif(1 - (v.vector <=> $1), 'nan')
            from observation o join %I v on v.space_id = o.space_id and v.observation_id = o.id
            where o.space_id = any($2) and %s
            order by (v.vector <=> $1) + 0 limit $5$sql$, vectors, condition)
        using vector, spaces, entity_types, as_of, candidates, since, until;
    elsif large then
        perform set_config('hnsw.ef_search', breadth::text, true);
        -- `is true` hides the space from all indexes. With a plain condition the planner would read the whole space. A
        -- space's own index is partial. The planner uses it only if the query contains the exact condition of the
        -- index.
        return query execute format($sql$
            select v.space_id, v.observation_id, nullif(1 - (v.vector <=> $1), 'nan')
            from %I v cross join lateral %s
            where %s
            order by v.vector <=> $1 limit $5$sql$, vectors, format(fact, condition),
            case when own then 'v.space_id = ' || spaces[1] else '(v.space_id = any($2)) is true' end)
        using vector, spaces, entity_types, as_of, candidates, since, until;
    else
        -- `+ 0` keeps the planner from using the vector index. In a large store, a search by that index would read most
        -- vectors before it finds the few facts of a small space. The planner does not know this.
        return query execute format($sql$
            select v.space_id, v.observation_id, nullif(1 - v.distance, 'nan')
            from (select n.space_id, n.observation_id, (n.vector <=> $1) + 0 as distance
                  from %I n where n.space_id = any($2) order by distance) v
            cross join lateral %s
            order by v.distance limit $5$sql$, vectors, format(fact, condition))
        using vector, spaces, entity_types, as_of, candidates, since, until;
    end if;
end
$$;

comment on function textrawl.nearest_facts is
    'The facts of the given spaces whose vectors are nearest to a given vector, valid now or at as_of. The parameters '
    'large, rare, breadth and own choose between an index and a comparison of all vectors. Take their values from '
    'assess_spaces(). '
    'Example: select id from textrawl.nearest_facts(1, ''[1,0,0]'', array[1], null, null, 50, false, false, 160);';
