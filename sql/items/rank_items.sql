create function textrawl.rank_items(
    query text, space integer, prefix text[], filter jsonb, max_rows integer, skip integer, model integer, vector halfvec
) returns table (document_id uuid, score double precision)
language plpgsql stable rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    place  tsquery := format('''~s%s''', space)::tsquery;  -- the index of words holds the space as a word
    terms  tsquery[] := array(
        select quote_literal(t.lexeme)::tsquery
        from unnest(tsvector_to_array(language_document(space_language(space), left(query, 1000)))) t (lexeme) limit 32);
    every  tsquery;
    either tsquery;
    chosen uuid[];
begin
    select place && string_agg(t.term::text, ' & ')::tsquery, place && string_agg(t.term::text, ' | ')::tsquery
    into every, either from unnest(terms) t (term);
    -- Compare all items if there are few.
    execute format($sql$
        select array_agg(c.document_id)
        from (select i.document_id
              from item_namespace n join item i on i.space_id = n.space_id and i.namespace_id = n.id
              where n.space_id = $1 and %s and i.fts is not null and is_unexpired(i.expires_at)
                and ($2 is null or matches_filter(i.fields, $2))
              limit 501) c$sql$, labels_condition(prefix, 'n.labels'))
    into chosen using space, filter;
    if cardinality(chosen) > 500 then
        chosen := array(select w.document_id from matching_items(every, space, prefix, filter, 200) w);
        if cardinality(chosen) < skip + max_rows and cardinality(terms) > 1 then
            -- The same number of items for each word, so that those with a rare word are among them.
            chosen := chosen || array(
                select w.document_id
                from unnest(terms) t (term)
                cross join lateral matching_items(
                    place && t.term, space, prefix, filter, greatest(50, 300 / cardinality(terms))) w);
        end if;
        chosen := chosen || array(
            select v.document_id from nearest_items(model, vector, space, prefix, filter, greatest(50, skip + max_rows)) v);
    end if;
    return query
        select f.document_id, search_score(f.likeness, f.coverage, w.base, w.meaning, w.words) as score
        from (
            select i.document_id, i.updated_at, m.name as model, search_likeness(
                    case when rank_items.vector is not null then nullif(1 - (v.vector <=> rank_items.vector), 'nan') end,
                    m.cosine_floor, m.cosine_ceiling) as likeness,
                case when either is null then null when i.fts @@ either
                    then (select count(*) filter (where i.fts @@ t.term) from unnest(terms) t (term))::double precision / cardinality(terms)
                    else 0 end as coverage
            from item i
            left join item_vector v on v.space_id = i.space_id and v.document_id = i.document_id and v.model_id = rank_items.model
            left join embedding_model m on m.id = rank_items.model
            where i.space_id = rank_items.space and i.document_id = any(chosen)) f
        cross join lateral ranking_weights(f.model) w
        where f.likeness > 0 or f.coverage > 0
        order by score desc, f.updated_at desc, f.document_id limit max_rows offset skip;
end
$$;

comment on function textrawl.rank_items is
    'The items below a prefix that match a query by words or by meaning, the best first. The score is that of facts (search_score).';
