create function textrawl.search_nodes(
    query text, model integer default null, vector halfvec default null,
    skip bigint default 0, max_rows integer default 200, max_text integer default 1000000, max_nodes integer default 100,
    space integer default null, credential bytea default null
) returns table (
    number bigint, part bigint, kind text, name text, entity_type text, content text,
    from_entity text, relation text, to_entity text, relation_number bigint
)
language plpgsql stable security definer rows 200
set search_path from current
as $$
#variable_conflict use_column
declare
    home    integer := graph_space(credential, space);
    folded  text := fold_case(query);
    pattern text := '%' || replace(replace(replace(folded, '\', '\\'), '%', '\%'), '_', '\_') || '%';
    -- ilike folds ASCII correctly and is much faster than fold_case().
    plain      boolean := octet_length(folded) = char_length(folded);
    entity_ids uuid[];
begin
    entity_ids := array(
        select e.id from local_entities() e
        where e.space_id = home and (
            case when plain then e.name ilike pattern or free_type(e.entity_type, e.metadata) ilike pattern
                 else fold_case(e.name || e'\n' || free_type(e.entity_type, e.metadata)) like pattern end
            or e.id in (
                select o.entity_id from local_facts() o
                where o.space_id = home and case when plain then o.content ilike pattern else fold_case(o.content) like pattern end
                  and is_valid(o.valid_from, o.valid_until, o.closed_at)))
        order by e.created_at, e.id limit max_nodes);
    if btrim(query) <> '' and home is not null then
        -- Then add the entities of facts that match the words of the query or its meaning with a score of at least
        -- 0.5. docs/search.md calls this score moderate.
        entity_ids := entity_ids || array(
            select hit.entity_id
            from search_memory(query, array[home], null, null, 20, model, vector, false, credential, neighbours => false) hit
            where hit.score >= 0.5 and hit.relation_id is null and hit.entity_id <> all(entity_ids)
            group by hit.entity_id order by max(hit.score) desc, hit.entity_id);
    end if;
    return query select p.* from graph_parts(home, entity_ids[1:max_nodes], skip, max_rows, max_text, false) p;
end
$$;

comment on function textrawl.search_nodes is
    'Entities that contain a text in their name, type or facts, in upper or lower case, oldest first. The entities '
    'that search_memory() finds come after them. Errors: TR010, TR011 (access), TR049 (no such model). '
    'Example: select distinct name from textrawl.search_nodes(''astro'');';
