create function textrawl.search_terms(
    query text, spaces integer[] default array[textrawl.default_space()], counting boolean default false,
    languages text[] default null,  -- of the spaces; null: search_languages() finds them
    facts double precision default null,  -- in these spaces; null: count or look up
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
    frequencies double precision[];  -- numbers of facts with each word; 1 if unknown
    alone       boolean[] := '{}';   -- the word selects every fact that has it
    entries     double precision := 0;
    rarest      integer;             -- place of the rarest word with a known frequency
begin
    languages := coalesce(languages, search_languages(spaces));
    -- Use only the statistics of these spaces. Scores would otherwise reveal the words of other spaces. In a new memory the
    -- statistics are soon outdated. The caller then sets `counting`, and the few facts are counted.
    if facts is null and counting then
        facts := (select count(*) from observation o where o.space_id = any(spaces));
    elsif facts is null then
        facts := (select sum(s.facts) from space_statistics s where s.space_id = any(spaces));
    end if;
    with counted as (
        select q.word, q.term, nullif(case
            when counting then (
                select count(*) from observation o
                where o.fts @@ ((select string_agg(quote_literal('~s' || space), '|')::tsquery from unnest(spaces) space) && q.term))
            else (
                -- `offset 0` makes Postgres look up each form by its word. Otherwise it reads the words of each space.
                select sum(l.frequency) from unnest(q.words) form cross join lateral (
                    select frequency from lexeme where word = form and space_id = any(spaces) offset 0) l)
            end, 0)::float8 as known
        from query_words(query, languages) q
    ), chosen as (
        -- Only twelve words are used. In a longer query, take two words with a frequency for each word without one.
        -- A word without a frequency is rare or new, so its weight is that of a word that one fact has. Without any
        -- statistics all words have the same weight.
        select word, term, number, known / nullif(facts, 0) as share,
            coalesce(ln(1 + (facts - least(number, facts) + 0.5) / (number + 0.5)), 1) as weight
        from (select *, row_number() over (partition by known is null order by known, char_length(word) desc, word) as turn from counted) turns
        cross join lateral (select coalesce(known, 1) as number) n
        order by case when known is null then 2 * turn else turn end, known is null limit 12
    )
    select array_agg(word order by number, term::text), array_agg(term order by number, term::text),
        array_agg(number order by number, term::text), array_agg(share order by number, term::text),
        coalesce(array_agg(weight / total order by number, term::text), '{}')
    into words, terms, frequencies, shares, weights
    from (select *, sum(weight) over () as total from chosen) w;
    -- A common word would select too many facts to check. So only the rarest words select facts alone, but all words add
    -- to the score. If there are at most 1,000 facts, or their number is unknown, every word selects alone. Otherwise
    -- only the rarest words do, as long as their frequencies add up to at most 300. The rarest word with a known
    -- frequency may be in up to 2,000 facts.
    for place in 1 .. coalesce(cardinality(terms), 0) loop
        entries := entries + frequencies[place];
        if rarest is null and shares[place] is not null then
            rarest := place;
        end if;
        alone[place] := coalesce(facts <= 1000, true) or entries <= 300 or rarest = place and frequencies[place] <= 2000;
        if alone[place] then
            selecting := coalesce(selecting || terms[place], terms[place]);
        end if;
    end loop;
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
