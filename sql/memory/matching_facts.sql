create function textrawl.matching_facts(
    terms tsquery[], sums double precision[],
    selecting tsquery,  -- the condition on the words of a fact
    fallback tsquery,   -- the condition for more facts, if too few facts match `selecting`; null if there is none
    common boolean,     -- true: very many facts match `fallback`, so check only the newest facts
    spaces integer[], entity_types text[], as_of timestamptz, candidates integer,
    since timestamptz default null, until timestamptz default null,
    parts boolean default null,  -- true: only parts of journal entries; false: none of them
    here text[] default null,     -- see is_of_repository()
    about text default null       -- all facts of the entities with this name or alias, whatever their words
)
returns table (space_id integer, id uuid)
language plpgsql stable rows 50
set search_path from current
as $$
#variable_conflict use_column
declare
    found bigint := 0;
begin
    if about is not null then
        -- All facts of the entity are candidates, so `candidates` is no limit here.
        return query
        select o.space_id, o.id
        from find_entities(spaces, about) f
        join observation o on o.space_id = f.space_id and o.entity_id = f.entity_id
        where is_searchable(o.valid_from, o.valid_until, o.closed_at, o.created_at, o.period, o.replaced_by, as_of) and is_within(o.said_at, since, until) and is_of_repository(o.repository, here)
            and (entity_types is null or o.entity_type = any(entity_types))
        order by o.created_at desc limit 5000;
        return;
    end if;
    if selecting is not null then
        return query
        select o.space_id, o.id
        from (
            -- The text index holds the space as a word. `is true` prevents the use of other indexes for the condition
            -- on the column. With such an index the planner would read the whole space.
            select space_id, id, created_at, matched_terms(fts, terms) as matched, length(fts) as words
            from observation
            where fts @@ selecting and (space_id = any(spaces)) is true
                and is_searchable(valid_from, valid_until, closed_at, created_at, period, replaced_by, as_of) and is_within(said_at, since, until) and is_of_repository(repository, here)
                and (entity_types is null or entity_type = any(entity_types))
                and (parts is null or is_entry_part(space_id, whole) = parts)
            limit 2000
        ) o
        order by terms_weight(o.matched, sums) / length_divisor(o.words) desc, o.created_at desc, o.id
        limit candidates;
        get diagnostics found = row_count;
    end if;
    -- A fact that matches two words ranks above a fact that matches one word. So search for the fallback word only if
    -- too few facts match two words.
    if fallback is null or found >= candidates then
        return;
    end if;
    return query
    select o.space_id, o.id
    from (
        select space_id, id, created_at, matched_terms(fts, terms) as matched, length(fts) as words
        from (
            select space_id, id, created_at, fts, valid_from, valid_until, closed_at, entity_type, said_at, whole, period, replaced_by, repository
            from observation where not common and (space_id = any(spaces)) is true
            union all
            select newest.* from unnest(spaces) searched_space cross join lateral (
                select space_id, id, created_at, fts, valid_from, valid_until, closed_at, entity_type, said_at, whole, period, replaced_by, repository
                from observation where common and space_id = searched_space
                order by ordinal desc limit 50000 / cardinality(spaces)) newest
        ) checked
        where fts @@ fallback
            and is_searchable(valid_from, valid_until, closed_at, created_at, period, replaced_by, as_of) and is_within(said_at, since, until) and is_of_repository(repository, here)
            and (entity_types is null or entity_type = any(entity_types))
            and (parts is null or is_entry_part(space_id, whole) = parts)
        limit 2000
    ) o
    order by terms_weight(o.matched, sums) / length_divisor(o.words) desc, o.created_at desc, o.id
    limit candidates - found;
end
$$;

comment on function textrawl.matching_facts is
    'The facts that search_memory() selects by words, the facts with the highest coverage first, or all facts of the entities '
    'that "about" names. The parameter terms holds the terms of search_terms(), and the parameter sums holds the '
    'subset_sums() of their weights.';
