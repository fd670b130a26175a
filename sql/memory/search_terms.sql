create function textrawl.search_terms(
    query text, spaces integer[] default array[textrawl.default_space()], counting boolean default false
)
returns table (
    term tsquery,
    weight double precision,
    -- The query that selects facts: a rare word by itself, a common word only with a second word. If it is null, the
    -- word adds to scores but selects nothing here.
    selecting tsquery,
    share double precision  -- share of facts known to have the word
)
language sql stable parallel safe
begin atomic
    with text as materialized (
        select textrawl.plain_text(query) as plain, '\w*(?:[a-z0-9][A-Z][a-z]|[A-Z]{2}[a-z]{2})\w*' as name
    ), word as (
        select lexeme as word, quote_literal(lexeme)::tsquery as term
        from text, unnest(tsvector_to_array(to_tsvector('english', regexp_replace(plain, name, ' ', 'g')))) as lexeme
        union
        -- A name in camel case may be written as one word or as its parts. One part is not enough: otherwise JavaScript
        -- would also find TypeScript, since both contain Script.
        select min(whole), (quote_literal(min(whole)) || '|(' || string_agg(quote_literal(part), '&') || ')')::tsquery
        from text, regexp_matches(plain, name, 'g') as match,
             unnest(tsvector_to_array(to_tsvector('english', match[1]))) as whole,
             unnest(tsvector_to_array(to_tsvector('english', textrawl.split_names(match[1])))) as part
        group by match[1]
    ), query_word as (
        select word, term from word
        union all
        -- A query of stop words alone can only mean a name, such as The Who.
        select lexeme, quote_literal(lexeme)::tsquery
        from text, unnest(tsvector_to_array(to_tsvector('simple', plain))) as lexeme
        where not exists (select from word)
    ), with_forms as (
        -- A search for went also finds go. All forms are treated as one word with one frequency.
        select word, words, case when other is null then term else term || other::tsquery end as term
        from query_word cross join lateral (
            select string_agg(quote_literal(f.other), '|') as other, array_agg(f.other) || word as words
            from textrawl.word_form f where f.stem = query_word.word) form
    ), scope as materialized (
        select string_agg(quote_literal('~s' || space), '|')::tsquery as scope from unnest(spaces) as space
    ), fact_total as (
        -- Use the counts of these spaces only: scores would otherwise reveal the words of other spaces.
        -- In a new memory statistics are soon outdated, so the caller sets `counting` and the few facts are counted.
        select case when counting then (select count(*)::float8 from textrawl.observation o where o.space_id = any(spaces))
            else (select sum(s.facts)::float8 from textrawl.space_statistics s where s.space_id = any(spaces)) end as facts
    ), with_frequency as (
        select word, term, facts, nullif(
            case when counting then (select count(*) from textrawl.observation o, scope where o.fts @@ (scope && term))
            else (select sum(l.frequency) from textrawl.lexeme l
                  where l.word = any(with_forms.words) and l.space_id = any(spaces)) end, 0)::float8 as frequency
        from with_forms, fact_total
    ), placed as (
        select *, row_number() over (partition by frequency is null order by frequency, char_length(word) desc, word) as place
        from with_frequency
    ), weighted as (
        -- A word without a frequency is rare or new. It counts as a word that one fact has. Without any statistics all
        -- words weigh the same. Only twelve words are used. In a longer query, take two words with a frequency for each
        -- word without one.
        select term, coalesce(frequency, 1) as frequency, frequency / nullif(facts, 0) as share, facts,
            coalesce(ln(1 + (facts - least(coalesce(frequency, 1), facts) + 0.5) / (coalesce(frequency, 1) + 0.5)), 1) as weight,
            row_number() over (order by case when frequency is null then 2 * place else place end, frequency is null) <= 12 as counts
        from placed
    ), ranked as materialized (
        -- A common word would select too many facts to check. So only the rarest words select facts by themselves, but
        -- all words add to the score. If there are at most 1,000 facts, or their number is unknown, every word selects.
        -- Otherwise the rarest words do, as long as their frequencies add up to at most 300. The rarest word with a
        -- known frequency may be in up to 2,000 facts.
        select *, coalesce(facts <= 1000, true) or sum(frequency) over (order by frequency, term::text) <= 300
            or place = 1 and frequency <= 2000 as alone
        from (select *, row_number() over (partition by share is null order by frequency, term::text) as place
              from weighted where counts) ordered
    ), common as materialized (
        select term, frequency as expected, share, place, sum(frequency) over (order by place) as entries
        from ranked where not alone
    ), pair as (
        -- Two common words select facts together if few facts are expected to have both. Pairs with the fewest expected
        -- facts are used first, until the sum is 100, or 1,000 if even the rarest word (place 1) is common.
        -- `entries` adds up the frequencies of the common words, from the rarest to this one. The rarer word of a pair
        -- may have at most 3,000, so that the search reads few entries of the index. The limit does not apply to
        -- place 1. If place 1 is common, it is part of every pair: with any other word the sum is above 4,000.
        select one.place, one.term, other.term as other,
            sum(one.expected * other.share) over (
                order by one.place > 1, one.expected * other.share, one.place, other.place) as expected
        from common one join common other on other.place > one.place
        where one.place = 1 or one.entries <= 3000
    ), together as (
        select place, term && string_agg(other::text, '|')::tsquery as selecting
        from pair where expected <= case place when 1 then 1000 else 100 end group by place, term
    )
    select r.term, r.weight, case when r.alone then r.term else t.selecting end, r.share
    from ranked r left join together t on t.place = r.place and not r.alone
    order by r.frequency, r.term::text;
end;

comment on function textrawl.search_terms is
    'The words that answer a query, rarest first, with their weight and how they select facts. With counting, count the '
    'facts instead of using statistics. '
    'Example: select * from textrawl.search_terms(''Jeff''''s favourite editor'');';
