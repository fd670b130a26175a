create function textrawl.find_answers(space integer, max_rows integer default 200)
returns table (question uuid, answer uuid)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    languages text[] := search_languages(array[find_answers.space]);
begin
    return query
    with question as materialized (
        select q.* from (
            select o.id, o.entity_id, o.created_at, o.said_at, e.name,
                -- The label of a question is no part of it.
                regexp_replace(o.content, '^[^?:]{1,30}:\s', '') as content
            from fact o join entity e on e.space_id = o.space_id and e.id = o.entity_id
            where o.space_id = find_answers.space and o.whole is null and o.content ~ '[?？]\s*$'
              and is_valid(o.valid_from, o.valid_until, o.closed_at)
              and not exists (select from dismissal d where d.space_id = o.space_id and d.kind = 'stale' and d.one = o.id and d.other = o.id)) q
        order by q.created_at, q.id limit 1000
    ), asked as materialized (
        select q.id, q.created_at, q.said_at, string_agg('(' || w.term::text || ')', '&') as terms
        from question q
        cross join lateral query_words(
            regexp_replace(q.content, '\m(how|what|which) (many|much|long|often|kind|sort)\M', ' ', 'gi'), languages) w
        group by q.id, q.created_at, q.said_at, q.name
        -- The name of the entity alone is answered by any fact about it.
        having count(*) filter (where not to_tsvector('simple', search_text(q.name)) @@ quote_literal(w.word)::tsquery) >= 2
    )
    select a.id, best.id
    from asked a
    cross join lateral (
        select o.id from fact o
        where o.space_id = find_answers.space and o.fts @@ (quote_literal('~s' || find_answers.space) || '&' || a.terms)::tsquery
          and o.whole is null and o.created_at > a.created_at and o.said_at >= a.said_at and o.content !~ '[?？]'
          and is_valid(o.valid_from, o.valid_until, o.closed_at)
        order by length(o.fts), o.created_at desc, o.id limit 1) best
    order by a.created_at, a.id limit max_rows;
end
$$;

comment on function textrawl.find_answers is
    'Open questions of a space, which are facts that end with a question mark, each with a newer fact that has all of its '
    'words. Example: select * from textrawl.find_answers(1);';
