create function textrawl.rank_items(
    query text, space integer, prefix text[], filter jsonb, max_rows integer, skip integer, model integer, vector halfvec
) returns table (document_id uuid, score double precision)
language plpgsql stable rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    finish text[] := namespace_end(prefix);
    terms  tsquery[] := array(
        select quote_literal(t.lexeme)::tsquery
        from unnest(tsvector_to_array(language_document(space_language(space), left(query, 1000)))) t (lexeme) limit 32);
    every  tsquery;
    either   tsquery;
    chosen uuid[];
begin
    -- The index of words holds the space as a word.
    select (format('''~s%s''', space)::tsquery && string_agg(t.term::text, ' & ')::tsquery),
           (format('''~s%s''', space)::tsquery && string_agg(t.term::text, ' | ')::tsquery)
    into every, either from unnest(terms) t (term);
    -- Compare all items if there are few.
    chosen := array(
        select i.document_id
        from item_namespace n join item i on i.space_id = n.space_id and i.namespace_id = n.id
        where n.space_id = rank_items.space and n.labels >= prefix and n.labels < finish
          and n.labels[:cardinality(prefix)] = prefix
          and i.fts is not null and is_unexpired(i.expires_at) and (filter is null or matches_filter(i.fields, filter))
        limit 1001);
    if cardinality(chosen) > 1000 then
        chosen := array(
            select w.document_id from matching_items(every, space, prefix, filter, 500) w);
        if cardinality(chosen) < skip + max_rows and cardinality(terms) > 1 then
            chosen := chosen || array(select w.document_id from matching_items(either, space, prefix, filter, 1000) w);
        end if;
        chosen := chosen || array(
            select v.document_id from nearest_items(model, vector, space, prefix, filter, greatest(50, skip + max_rows)) v);
    end if;
    return query execute format($sql$
        select f.document_id, f.score
        from (
            select i.document_id, i.updated_at, search_score(
                search_likeness(case when $6 then nullif(1 - (v.vector <=> $3), 'nan') end, m.cosine_floor, m.cosine_ceiling),
                case when $5 is null then null when i.fts @@ $5
                    then (select count(*) filter (where i.fts @@ t.term) from unnest($4) t (term))::double precision / cardinality($4)
                    else 0 end,
                coalesce(m.trust, 0.8)) as score
            from item i
            left join item_vector v on v.space_id = i.space_id and v.document_id = i.document_id and v.model_id = $7
            left join embedding_model m on m.id = $7
            where i.space_id = $1 and i.document_id = any($2)) f
        where f.score > 0
        order by f.score desc, f.updated_at desc, f.document_id limit $8 offset $9$sql$)
    using space, chosen, vector, terms, either, vector is not null, model, max_rows, skip;
end
$$;

comment on function textrawl.rank_items is
    'The items below a prefix that match a query by words or by meaning, the best first. The score is that of facts (search_score).';
