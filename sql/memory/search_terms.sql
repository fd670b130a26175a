create function textrawl.search_terms(
    query text, spaces integer[] default array[textrawl.default_space()], counting boolean default false,
    languages text[] default null,  -- of the spaces; null: search_languages() finds them
    totals jsonb default null  -- {facts, words: {word: facts}} of more spaces than these; null: count or look up
)
returns table (
    term tsquery,
    weight double precision,
    -- The text condition by which this word selects facts. A rare word selects every fact that has it. A common word
    -- selects only facts that also have a second word. Null: the word adds to scores but selects no facts.
    selecting tsquery,
    share double precision  -- the share of facts that have the word; null if unknown
)
language sql stable parallel safe
begin atomic
    with with_forms as (
        select * from textrawl.query_words(query, coalesce(languages, textrawl.search_languages(spaces)))
    ), scope as materialized (
        select string_agg(quote_literal('~s' || space), '|')::tsquery as scope from unnest(spaces) as space
    ), fact_total as (
        -- Use only the statistics of these spaces. Scores would otherwise reveal the words of other spaces. In a new
        -- memory the statistics are soon outdated. The caller then sets `counting`, and the few facts are counted.
        select case when totals is not null then (totals ->> 'facts')::float8
            when counting then (select count(*)::float8 from textrawl.observation o where o.space_id = any(spaces))
            else (select sum(s.facts)::float8 from textrawl.space_statistics s where s.space_id = any(spaces)) end as facts
    ), with_frequency as (
        select word, term, facts, nullif(
            case when totals is not null then (totals -> 'words' ->> word)::numeric
            when counting then (select count(*) from textrawl.observation o, scope where o.fts @@ (scope && term))
            else (select sum(l.frequency) from textrawl.lexeme l
                  where l.word = any(with_forms.words) and l.space_id = any(spaces)) end, 0)::float8 as frequency
        from with_forms, fact_total
    ), placed as (
        select *, row_number() over (partition by frequency is null order by frequency, char_length(word) desc, word) as rank
        from with_frequency
    ), weighted as (
        -- A word without a frequency is rare or new, so its weight is that of a word that one fact has. Without any
        -- statistics all words have the same weight. Only twelve words are used. In a longer query, take two words with
        -- a frequency for each word without a frequency.
        select term, coalesce(frequency, 1) as frequency, frequency / nullif(facts, 0) as share, facts,
            coalesce(ln(1 + (facts - least(coalesce(frequency, 1), facts) + 0.5) / (coalesce(frequency, 1) + 0.5)), 1) as weight,
            row_number() over (order by case when frequency is null then 2 * rank else rank end, frequency is null) <= 12 as counts
        from placed
    ), ranked as materialized (
        -- A common word would select too many facts to check. So only the rarest words select facts alone, but all
        -- words add to the score. If there are at most 1,000 facts, or their number is unknown, every word selects
        -- alone. Otherwise only the rarest words select alone, as long as their frequencies add up to at most 300. The
        -- rarest word with a known frequency may be in up to 2,000 facts.
        select *, coalesce(facts <= 1000, true) or sum(frequency) over (order by frequency, term::text) <= 300
            or rank = 1 and frequency <= 2000 as alone
        from (select *, row_number() over (partition by share is null order by frequency, term::text) as rank
              from weighted where counts) ordered
    ), common as materialized (
        select term, frequency as expected, share, rank, sum(frequency) over (order by rank) as entries
        from ranked where not alone
    ), pair as (
        -- A fact with two common words is selected if few facts are expected to have both words. The expected number is
        -- the frequency of the rarer word times the share of the other word. Take pairs in the order of this number,
        -- smallest first, until the numbers add up to 100. If even the rarest word (rank 1) is common, take pairs
        -- until they add up to 1,000. `entries` adds up the frequencies of the common words, from the rarest to this
        -- word. It may be at most 3,000 for the rarer word of a pair, so that the search reads few entries of the
        -- index. This limit does not apply to rank 1. If rank 1 is common, it is in more than 2,000 facts. Then
        -- `entries` is above 4,000 for all other words, and rank 1 is part of every pair.
        select one.rank, one.term, other.term as other,
            sum(one.expected * other.share) over (
                order by one.rank > 1, one.expected * other.share, one.rank, other.rank) as expected
        from common one join common other on other.rank > one.rank
        where one.rank = 1 or one.entries <= 3000
    ), together as (
        select rank, term && string_agg(other::text, '|')::tsquery as selecting
        from pair where expected <= case rank when 1 then 1000 else 100 end group by rank, term
    )
    select r.term, r.weight, case when r.alone then r.term else t.selecting end, r.share
    from ranked r left join together t on t.rank = r.rank and not r.alone
    order by r.frequency, r.term::text;
end;

comment on function textrawl.search_terms is
    'The words of a query, rarest first, each with its weight and its condition for selecting facts. If `counting` is '
    'true, the function counts the facts instead of using statistics. '
    'Example: select * from textrawl.search_terms(''Jeff''''s favourite editor'');';
