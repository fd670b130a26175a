create function textrawl.query_phrases(query text, languages text[] default array['english']) returns text[]
language plpgsql stable strict parallel safe
set search_path from current
as $$
declare
    configs regconfig[] := languages;
    words   text[] := regexp_split_to_array(lower(query), '[^[:alnum:]]+');
    content boolean[] := array(
        select (select bool_and(to_tsvector(config, word) <> '') from unnest(configs) config)
        from unnest(words) with ordinality as listed (word, place) order by place);
begin
    return (select array_agg(words[place] || ' ' || words[place + 1] order by place)
            from generate_subscripts(words, 1) place where content[place] and content[place + 1]);
end
$$;

comment on function textrawl.query_phrases is
    'The pairs of adjacent words of a query, in lower case, without pairs that have a stop word of one of the languages. '
    'Null: the query has no such pair. '
    'Example: select textrawl.query_phrases(''Which guitar strings does Ada use?'');';
