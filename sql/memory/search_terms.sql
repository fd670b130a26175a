create function textrawl.search_terms(
    query text, spaces integer[] default array[textrawl.default_space()], counting boolean default false
)
returns table (
    term tsquery,
    weight double precision,
    selecting tsquery,      -- selects facts: a rare word alone, another with a second word; null: the word only scores
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
        -- A name in camel case may be written as one word or as its parts. A single part does not count:
        -- JavaScript would find TypeScript.
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
        -- A search for went also finds go. All forms are one word with one frequency.
        select word, words, case when other is null then term else term || other::tsquery end as term
        from query_word cross join lateral (
            select string_agg(quote_literal(f.other), '|') as other, array_agg(f.other) || word as words
            from textrawl.word_form f where f.stem = query_word.word) form
    ), scope as materialized (
        select string_agg(quote_literal('~s' || space), '|')::tsquery as scope from unnest(spaces) as space
    ), fact_total as (
        -- Use the counts of these spaces only: scores would otherwise reveal the words of other spaces.
        -- The statistics of a new memory are soon outdated, so its few facts are counted.
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
        -- A word without a frequency is rare or new. Without any statistics all words weigh the same.
        -- Twelve words count: in a long query two known words for each unknown one.
        select term, coalesce(frequency, 1) as frequency, frequency / nullif(facts, 0) as share, facts,
            coalesce(ln(1 + (facts - least(coalesce(frequency, 1), facts) + 0.5) / (coalesce(frequency, 1) + 0.5)), 1) as weight,
            row_number() over (order by case when frequency is null then 2 * place else place end, frequency is null) <= 12 as counts
        from placed
    ), ranked as materialized (
        -- Common words select too many facts to check: only the rarest words select, all words score.
        -- Up to 1,000 facts, or up to 2,000 for the rarest word, can all be checked.
        select *, coalesce(facts <= 1000, true) or sum(frequency) over (order by frequency, term::text) <= 300
            or place = 1 and frequency <= 2000 as alone
        from (select *, row_number() over (partition by share is null order by frequency, term::text) as place
              from weighted where counts) ordered
    ), common as materialized (
        select term, frequency as expected, share, place, sum(frequency) over (order by place) as entries
        from ranked where not alone
    ), pair as (
        -- Two common words select together if few facts are expected to have both and the index has few entries to check
        -- for the rarer one. If even the rarest word is common, it is part of every pair.
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
