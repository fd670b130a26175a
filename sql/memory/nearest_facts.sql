-- Load the library of pgvector. Until it is loaded, only a superuser can attach its settings to a function.
do $$ begin perform '[1]'::halfvec; end $$;

create function textrawl.nearest_facts(
    model integer, vector halfvec, spaces integer[], entity_types text[], as_of timestamptz,
    candidates integer, large boolean, rare boolean, breadth integer, own boolean default false,
    since timestamptz default null, until timestamptz default null,
    parts boolean default null, -- true: only parts of journal entries; false: none of them
    here text[] default null    -- see is_of_repository()
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
#variable_conflict use_column
declare
    filtered boolean := num_nonnulls(entity_types, as_of, since, until) > 0;
    exact    boolean := rare or not large;
begin
    if vector is null then
        return;
    elsif rare and parts then
        return query
        select o.space_id, o.id, nullif(1 - (v.vector <=> nearest_facts.vector), 'nan')
        from journal_entry j
        join document d on d.space_id = j.space_id and d.id = j.document_id
        join observation o on o.space_id = d.space_id and o.entity_id = d.entity_id and o.whole = d.id
        join embedding v on v.model_id = nearest_facts.model and v.space_id = o.space_id and v.observation_id = o.id
        where j.space_id = any(spaces) and is_searchable(o.valid_from, o.valid_until, o.closed_at, o.created_at, o.period, o.replaced_by, as_of) and is_of_repository(o.repository, here)
        order by (v.vector <=> nearest_facts.vector) + 0 limit candidates;
    elsif filtered or own and large then
        perform set_config('hnsw.ef_search', breadth::text, true);
        -- This statement is planned anew in each call. With filters, the planner knows from their values whether few facts
        -- are left, which it then reads first; `offset 0` would make it look up each fact. A space's own index is partial,
        -- and the planner uses it only if the statement has the exact condition of the index.
        return query execute format($sql$
            select v.space_id, v.observation_id, nullif(1 - (v.vector <=> $1), 'nan')
            from %I v cross join lateral (
                select from observation o
                where o.space_id = v.space_id and o.id = v.observation_id and is_searchable(o.valid_from, o.valid_until, o.closed_at, o.created_at, o.period, o.replaced_by, $3) and is_of_repository(o.repository, $9)
                    and ($2 is null or o.entity_type = any($2)) and is_within(o.said_at, $5, $6)
                    and ($7 is null or is_entry_part(o.space_id, o.whole) = $7) %s) o
            where %s
            order by (v.vector <=> $1) %s limit $4$sql$, 'embedding_' || nearest_facts.model,
            case when not filtered then 'offset 0' else '' end,
            case when exact then 'v.space_id = any($8)' when own then 'v.space_id = ' || spaces[1]
                else '(v.space_id = any($8)) is true' end,
            case when exact then '+ 0' else '' end)
        using nearest_facts.vector, entity_types, as_of, candidates, since, until, parts, spaces, here;
    elsif large then
        perform set_config('hnsw.ef_search', breadth::text, true);
        -- `is true` hides the space from all indexes. With a plain condition the planner would read the whole space.
        -- `offset 0` makes it look up each fact. Without it, the planner could read all facts.
        return query
        select v.space_id, v.observation_id, nullif(1 - (v.vector <=> nearest_facts.vector), 'nan')
        from embedding v cross join lateral (
            select from observation o
            where o.space_id = v.space_id and o.id = v.observation_id and is_searchable(o.valid_from, o.valid_until, o.closed_at, o.created_at, o.period, o.replaced_by, as_of) and is_of_repository(o.repository, here)
                and (parts is null or is_entry_part(o.space_id, o.whole) = parts) offset 0) o
        where v.model_id = nearest_facts.model and (v.space_id = any(spaces)) is true
        order by v.vector <=> nearest_facts.vector limit candidates;
    else
        -- `+ 0` keeps the planner from using the vector index. In a large store, a search by that index would read most
        -- vectors before it finds the few facts of a small space. The planner does not know this.
        return query
        select v.space_id, v.observation_id, nullif(1 - v.distance, 'nan')
        from (select n.space_id, n.observation_id, (n.vector <=> nearest_facts.vector) + 0 as distance
              from embedding n where n.model_id = nearest_facts.model and n.space_id = any(spaces) order by distance) v
        cross join lateral (
            select from observation o
            where o.space_id = v.space_id and o.id = v.observation_id and is_searchable(o.valid_from, o.valid_until, o.closed_at, o.created_at, o.period, o.replaced_by, as_of) and is_of_repository(o.repository, here)
                and (parts is null or is_entry_part(o.space_id, o.whole) = parts) offset 0) o
        order by v.distance limit candidates;
    end if;
end
$$;

comment on function textrawl.nearest_facts is
    'The facts of the given spaces whose vectors are nearest to a given vector, valid now or at as_of. The parameters '
    'large, rare, breadth and own choose between an index and a comparison of all vectors. Take their values from '
    'assess_spaces(). '
    'Example: select id from textrawl.nearest_facts(1, ''[1,0,0]'', array[1], null, null, 50, false, false, 160);';
