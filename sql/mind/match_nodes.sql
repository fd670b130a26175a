create function textrawl.match_nodes(
    query text, type text default null, min_score double precision default 0.3, max_rows integer default 10,
    model integer default null, vector halfvec default null,
    credential bytea default null, space integer default null
) returns table (node_id uuid, label text, node_type text, score double precision)
language plpgsql stable security definer rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    home  integer := graph_space(credential, space);
    words text[] := array(
        select distinct w from regexp_split_to_table(fold_case(plain_text(query)), '[^[:alnum:]]+') w where w <> '');
    told  text[];
begin
    told := array(select unnest(words) except select unnest(stop_words(words)) order by 1);
    words := case when told = '{}' then words else told end;
    return query
    with term as materialized (
        select to_tsquery('simple', quote_literal(w) || ':*') as word from unnest(words[1:32]) w
    ), term_all as materialized (
        select string_agg(word::text, ' | ')::tsquery as any_word, count(*) as count from term
    ), labelled as materialized (
        select e.id, e.fts from entity e, term_all t where e.space_id = home and e.fts @@ t.any_word
        union all
        -- The words of a changed label are not words of the entity's name.
        select n.entity_id, to_tsvector('simple', search_text(n.label)) from graph_node n
        join entity e on e.space_id = n.space_id and e.id = n.entity_id
        where n.space_id = home and n.label is not null and not starts_with(e.name_key, n.label_key)
    ), candidate as (
        select l.id, greatest(0.3, t.shared::double precision / nullif(a.count, 0)) as score
        from labelled l, term_all a, lateral (select count(*) as shared from term where l.fts @@ term.word) t
        where t.shared > 0
        union all
        select hit.entity_id, hit.score from search_memory(
            query, array[home], case when match_nodes.type is not null then array[nearest_type(match_nodes.type)] end, null,
            100, model, vector, false, credential, least_score => 0, neighbours => false) hit
        where hit.relation_id is null
    ), best as (
        -- A common word matches very many labels. So look up only the nodes to return.
        select c.id, c.score, e.updated_at
        from (select id, max(candidate.score)::double precision as score from candidate group by id) c
        join local_entities() e on e.space_id = home and e.id = c.id
        left join graph_node n on n.space_id = home and n.entity_id = c.id
        where c.score >= min_score and n.deleted_at is null
          and (match_nodes.type is null or name_key(free_type(e.entity_type, e.metadata)) = name_key(match_nodes.type))
        order by c.score desc, e.updated_at desc, c.id limit max_rows
    )
    select s.entity_id, s.label, s.node_type, b.score
    from best b
    cross join lateral (select * from node_states(home) n where n.entity_id = b.id offset 0) s
    order by b.score desc, b.updated_at desc, b.id;
end
$$;

comment on function textrawl.match_nodes is
    'Nodes that match a query. The score is the larger of two values. One is the score of search_memory() for the best '
    'fact of the entity. The other is from the label: the share of the words of the query with which a word of the '
    'label begins, at least 0.3 if there is one. Stop words do not count. Errors: TR010, TR011 (access), TR049 (no such '
    'model). '
    'Example: select label, score from textrawl.match_nodes(''green tea'');';
