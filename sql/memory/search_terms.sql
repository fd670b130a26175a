create function textrawl.search_terms(
    query text, spaces integer[] default array[textrawl.default_space()], counting boolean default false
)
returns table (term tsquery, weight double precision, selecting tsquery, share double precision)
language sql stable parallel safe
begin atomic
    with text as materialized (
        select textrawl.plain_text(query) as plain, '\w*(?:[a-z0-9][A-Z][a-z]|[A-Z]{2}[a-z]{2})\w*' as name
    ), word as (
        select lexeme as word, quote_literal(lexeme)::tsquery as term
        from text, unnest(tsvector_to_array(to_tsvector('english', regexp_replace(plain, name, ' ', 'g')))) as lexeme
        union
        -- A name in camel case is written as one word or as its parts: either counts, but a part alone
        -- does not, or JavaScript would find TypeScript.
        select min(whole), (quote_literal(min(whole)) || '|(' || string_agg(quote_literal(part), '&') || ')')::tsquery
        from text, regexp_matches(plain, name, 'g') as match,
             unnest(tsvector_to_array(to_tsvector('english', match[1]))) as whole,
             unnest(tsvector_to_array(to_tsvector('english', textrawl.split_names(match[1])))) as part
        group by match[1]
    ), asked as (
        select word, term from word
        union all
        -- Nothing but stop words: these stand in names only, such as The Who.
        select lexeme, quote_literal(lexeme)::tsquery
        from text, unnest(tsvector_to_array(to_tsvector('simple', plain))) as lexeme
        where not exists (select from word)
    ), formed as (
        -- Asked for as went, found as go: one word, and as frequent as all of its forms.
        select word, words, case when other is null then term else term || other::tsquery end as term
        from asked cross join lateral (
            select string_agg(quote_literal(f.other), '|') as other, array_agg(f.other) || word as words
            from textrawl.word_form f where f.stem = asked.word) form
    ), scope as materialized (
        select string_agg(quote_literal('~s' || space), '|')::tsquery as scope from unnest(spaces) as space
    ), known as (
        -- Of these spaces alone: counts of others would show in the scores whether a word stands there.
        -- Statistics of a young memory are old before they are made: then its few facts are counted.
        select case when counting then (select count(*)::float8 from textrawl.observation o where o.space_id = any(spaces))
            else (select sum(s.facts)::float8 from textrawl.space_statistics s where s.space_id = any(spaces)) end as facts
    ), found as (
        select word, term, facts, nullif(
            case when counting then (select count(*) from textrawl.observation o, scope where o.fts @@ (scope && term))
            else (select sum(l.frequency) from textrawl.lexeme l
                  where l.word = any(formed.words) and l.space_id = any(spaces)) end, 0)::float8 as frequency
        from formed, known
    ), placed as (
        select *, row_number() over (partition by frequency is null order by frequency, char_length(word) desc, word) as place
        from found
    ), counted as (
        -- A word that no fact is known to have is rare or new. Without statistics all weigh the same.
        -- Twelve words count, known or not; of many, two known for each unknown one.
        select term, coalesce(frequency, 1) as frequency, frequency / nullif(facts, 0) as share, facts,
            coalesce(ln(1 + (facts - least(coalesce(frequency, 1), facts) + 0.5) / (coalesce(frequency, 1) + 0.5)), 1) as weight,
            row_number() over (order by case when frequency is null then 2 * place else place end, frequency is null) <= 12 as counts
        from placed
    ), ranked as materialized (
        -- Common words find too many facts to look at: the rarest ones select, all of them score. Of few
        -- facts all can be looked at, and of the rarest word's as many as search_memory takes.
        select *, coalesce(facts <= 1000, true) or sum(frequency) over (order by frequency, term::text) <= 300
            or place = 1 and frequency <= 2000 as alone
        from (select *, row_number() over (partition by share is null order by frequency, term::text) as place
              from counted where counts) ordered
    ), common as materialized (
        select term, frequency as expected, share, place, sum(frequency) over (order by place) as entries
        from ranked where not alone
    ), pair as (
        -- Two of the others select together, as far as few facts are expected to have both, and the index
        -- has few entries to look through for it: those of the rarer one. If even the rarest word is
        -- common, then all have it.
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
    'The words that a query is answered by, rarest first, with their weight, how they select facts (rare ones alone, others together with another; null: they only score), and the share of facts known to have them; counting looks at the facts instead of the statistics. Example: select * from textrawl.search_terms(''Jeff''''s favourite editor'');';
