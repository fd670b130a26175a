create function textrawl.likely_entity(space integer, entity uuid) returns jsonb
language sql stable
begin atomic
    with given as materialized (
        select e.id, e.name_key as key, textrawl.name_folds(e.name_key) as folds, translate(e.name_key, ' -._/''', '') as joined
        from textrawl.entity e where e.space_id = likely_entity.space and e.id = likely_entity.entity
    ), candidate as (
        select e.* from textrawl.entity e
        where e.space_id = likely_entity.space and e.fts @@ (
            select string_agg(form.words, '|')::tsquery
            from given
            cross join lateral unnest(array[key, textrawl.spell_umlauts(key), regexp_replace(replace(key, 'aa', 'a'), '([aou])e', '\1', 'g')]) spelling
            cross join lateral (
                select '(' || string_agg(quote_literal(word), '&') || ')' as words
                from unnest(tsvector_to_array(to_tsvector('simple', textrawl.plain_text(spelling)))) word) form)
        union all
        -- In other words: nodejs has none of Node.js. A thousand names with the same beginning take 4 ms.
        select near.* from given cross join lateral (
            select e.* from textrawl.entity e
            where e.space_id = likely_entity.space and e.name_key ~>=~ left(key, 2) and e.name_key ~<~ (left(key, 2) || '􏿽') limit 1000) near
        where translate(near.name_key, ' -._/''', '') = joined
    )
    select jsonb_build_object('id', c.id, 'content', c.name, 'why', 'same name', 'on', to_char(c.created_at at time zone 'UTC', 'YYYY-MM-DD'))
    from given join candidate c on c.id <> given.id and textrawl.name_folds(c.name_key) && folds
    where char_length(folds[1]) > 2
    order by c.created_at, c.id limit 1;
end;

comment on function textrawl.likely_entity is
    'An older entity whose name is likely to be another spelling of the name of this one, as the closest fact of its first fact: '
    '{id, content, why, on}; null: there is none. See name_folds().';
