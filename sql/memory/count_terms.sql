create function textrawl.count_terms(
    query text, spaces integer[] default null, credential bytea default null,
    languages text[] default null,  -- of all searched spaces; null: of the given ones
    entity_types text[] default null, as_of timestamptz default null,
    since timestamptz default null, until timestamptz default null,
    sources text[] default array['facts'], graphs text[] default null
)
returns table (
    languages_found text[],
    facts bigint,          -- from statistics
    counted bigint,        -- counted now, at most 4001; null if there are more by the statistics
    words jsonb,           -- number of facts with each word of the query, from statistics
    counted_words jsonb,   -- the same, counted now; null as `counted`
    names text[],          -- names in the query of entities that have a valid fact
    own text[],            -- names of the caller, if the query has I, my or such a word
    bar double precision, best double precision  -- see answer_bar()
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    scoped      integer[] := case when 'facts' = any(sources) then readable_spaces(credential, spaces) else '{}' end
        || array(
            select g.space_id from readable_graphs(credential, graphs) g where 'documents' = any(sources) order by g.space_id);
    query_words text[];
    scope       tsquery := (select string_agg(quote_literal('~s' || space), '|')::tsquery from unnest(scoped) space);
begin
    languages_found := coalesce(count_terms.languages, search_languages(scoped));
    select c.question, coalesce(c.names, '{}') into query, own from name_caller(query, languages_found, scoped, credential) c;
    query_words := tsvector_to_array(to_tsvector('simple', search_text(query)));
    facts := coalesce((select sum(s.facts) from space_statistics s where s.space_id = any(scoped)), 0);
    if facts <= 4000 then
        counted := (select count(*) from (select from observation where space_id = any(scoped) limit 4001) o);
    end if;
    select coalesce(jsonb_object_agg(w.word, l.frequency), '{}') into words
    from query_words(query, languages_found) w
    cross join lateral (
        select coalesce(sum(l.frequency), 0) as frequency
        from lexeme l where l.word = any(w.words) and l.space_id = any(scoped)) l;
    if counted <= 4000 then
        select coalesce(jsonb_object_agg(w.word, (select count(*) from observation o where o.fts @@ (scope && w.term))), '{}')
        into counted_words from query_words(query, languages_found) w;
    end if;
    names := array(
        select distinct e.name from entity e
        where e.space_id = any(scoped) and e.fts @@ (select string_agg(quote_literal(word), '|')::tsquery from unnest(query_words) word)
          and (char_length(e.name) > 2 or e.name ~ '[+#]') and tsvector_to_array(e.fts) <@ query_words
          and exists (
              select from observation o
              where o.space_id = e.space_id and o.entity_id = e.id and is_valid(o.valid_from, o.valid_until, o.closed_at, as_of)
                and is_within(o.said_at, since, until) and (entity_types is null or o.entity_type = any(entity_types))));
    select b.score, b.best into bar, best from answer_bar() b;
    return next;
end
$$;

comment on function textrawl.count_terms is
    'What a search counts in its spaces before it weighs the words of a query. A server adds the counts of several cells '
    'of a distributed memory, and gives the sums to search_memory() in each of them. Errors: TR010, TR011 (access), TR060 '
    '(a given space is a graph). '
    'Example: select facts, words from textrawl.count_terms(''favourite editor'');';
