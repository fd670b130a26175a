create function textrawl.search_terms(
    query text, spaces integer[] default array[textrawl.default_space()], counting boolean default false,
    languages text[] default null,  -- of the spaces; null: search_languages() finds them
    totals jsonb default null,      -- {facts, words: {word: facts}} of more spaces than these; null: count or look up
    out words text[],               -- the words that count, at most twelve, the rarest first
    out terms tsquery[],            -- for each word, the condition that a fact has it
    out weights double precision[], -- for each word; they add up to 1
    out shares double precision[],  -- for each word, of the facts that have it; null if unknown
    out selecting tsquery,          -- the condition by which the words select facts
    out fallback tsquery            -- the condition for more facts, if too few match `selecting`; null if there is none
)
language plpgsql stable parallel safe
set search_path from current
as $$
#variable_conflict use_variable
declare
    facts       double precision;
    frequencies double precision[];  -- numbers of facts with each word; 1 if unknown
    alone       boolean[] := '{}';   -- the word selects every fact that has it
    entries     double precision := 0;
    rarest      integer;             -- place of the rarest word with a known frequency
begin
    languages := coalesce(languages, search_languages(spaces));
    -- Use only the statistics of these spaces. Scores would otherwise reveal the words of other spaces. In a new memory the
    -- statistics are soon outdated. The caller then sets `counting`, and the few facts are counted.
    if totals is not null then
        facts := totals ->> 'facts';
    elsif counting then
        facts := (select count(*) from observation o where o.space_id = any(spaces));
    else
        facts := (select sum(s.facts) from space_statistics s where s.space_id = any(spaces));
    end if;
    select array_agg(w.word order by w.number, w.term::text), array_agg(w.term order by w.number, w.term::text),
        array_agg(w.number order by w.number, w.term::text), array_agg(w.known / nullif(facts, 0) order by w.number, w.term::text)
    into words, terms, frequencies, shares
    from (
        -- Only twelve words are used. In a longer query, take two words with a frequency for each word without one.
        select *, coalesce(known, 1) as number, row_number() over (order by case when known is null then 2 * place else place end, known is null) as rank
        from (
            select *, row_number() over (partition by known is null order by known, char_length(word) desc, word) as place
            from (
                select q.word, q.term, nullif(case
                    when totals is not null then (totals -> 'words' ->> q.word)::numeric
                    when counting then (
                        select count(*) from observation o
                        where o.fts @@ ((select string_agg(quote_literal('~s' || space), '|')::tsquery from unnest(spaces) space) && q.term))
                    else (select sum(l.frequency) from lexeme l where l.word = any(q.words) and l.space_id = any(spaces)) end, 0)::float8 as known
                from query_words(query, languages) q) counted) placed) w
    where w.rank <= 12;
    -- A word without a frequency is rare or new, so its weight is that of a word that one fact has. Without any statistics
    -- all words have the same weight.
    for place in 1 .. coalesce(cardinality(terms), 0) loop
        weights[place] := coalesce(ln(1 + (facts - least(frequencies[place], facts) + 0.5) / (frequencies[place] + 0.5)), 1);
        -- A common word would select too many facts to check. So only the rarest words select facts alone, but all words add
        -- to the score. If there are at most 1,000 facts, or their number is unknown, every word selects alone. Otherwise
        -- only the rarest words do, as long as their frequencies add up to at most 300. The rarest word with a known
        -- frequency may be in up to 2,000 facts.
        entries := entries + frequencies[place];
        if rarest is null and shares[place] is not null then
            rarest := place;
        end if;
        alone[place] := coalesce(facts <= 1000, true) or entries <= 300 or rarest = place and frequencies[place] <= 2000;
    end loop;
    weights := array(select weight / sum(weight) over () from unnest(weights) with ordinality w (weight, place) order by place);
    selecting := (select string_agg('(' || term::text || ')', '|')::tsquery from unnest(terms, alone) t (term, alone) where t.alone);
    if not alone[rarest] then
        fallback := terms[rarest];
    end if;
    if false = any(alone) then
        -- A fact with two common words is selected if few facts are expected to have both words. The expected number is the
        -- frequency of the rarer word times the share of the other word. Take pairs in the order of this number, smallest
        -- first, until the numbers add up to 100. If even the rarest word is common, take pairs with it until they add up to
        -- 1,000. `entries` adds up the frequencies of the common words, from the rarest to this word. It may be at most 3,000
        -- for the rarer word of another pair, so that the search reads few entries of the index.
        select nullif(concat_ws('|', selecting::text, string_agg(format('(%s)&(%s)', together.term, together.others), '|')), '')::tsquery into selecting
        from (
            select pair.term, string_agg(pair.other::text, '|') as others
            from (
                select one.place, one.term, other.term as other, sum(one.frequency * other.share) over (
                    order by one.place <> rarest, one.frequency * other.share, one.place, other.place) as expected
                from (
                    select *, sum(frequency) over (order by place) as entries
                    from unnest(terms, frequencies, shares, alone) with ordinality c (term, frequency, share, alone, place)
                    where not c.alone) one
                join unnest(terms, shares, alone) with ordinality other (term, share, alone, place) on other.place > one.place and not other.alone
                where one.place = rarest or one.entries <= 3000
            ) pair
            where pair.expected <= case pair.place when rarest then 1000 else 100 end
            group by pair.place, pair.term
        ) together;
    end if;
end
$$;

comment on function textrawl.search_terms is
    'The words of a query as a search uses them, with their weights and the conditions by which they select facts. A rare word '
    'selects every fact that has it, a common one only facts that have a second word. '
    'Example: select words, weights from textrawl.search_terms(''favourite code editor'');';
