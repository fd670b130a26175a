create function textrawl.order_by_time(
    spaces integer[], ids uuid[], scores double precision[],  -- the best facts of a search
    tense text,         -- first, ever, last, since, before, former, now, or null
    during tstzrange,   -- the period that the question names, or null
    clause text,        -- if the tense is before: the words that name what came later
    languages text[]
)
returns table (space_id integer, id uuid, score double precision, start timestamptz)
language plpgsql stable rows 20
set search_path from current
as $$
#variable_conflict use_column
begin
    -- This function is in PL/pgSQL, so that the planner does not inline it: every search would then prepare its many
    -- steps.
    return query
    with recursive fact as materialized (
        select o.space_id, o.id, o.entity_id, o.replaced_by, o.said_at, s.score, o.valid_from as start,
            case when not is_valid(o.valid_from, o.valid_until, o.closed_at) then o.valid_until end as ended,
            claim.topic, topic_words(o.content, languages[1]) as words,
            case when tense = 'before' then (
                select count(*) from unnest(tsvector_to_array(to_tsvector('simple', search_text(o.content)))) word
                where word = any(tsvector_to_array(to_tsvector('simple', search_text(clause))))) else 0 end as named
        from unnest(spaces, ids, scores) s (space_id, id, score)
        join observation o on o.space_id = s.space_id and o.id = s.id
        cross join lateral (
            -- The topic of a fact, if an entity has only one value of it at a time, such as home or work.
            select case when predicate = 'attr' then concat_ws(' ', predicate, array_to_string(subject, ' '))
                when predicate not in ('', 'be', 'has', 'like', 'prefer', 'event', 'many') and predicate not like 'v:%' then predicate
                end as topic
            from read_claim(o.content, languages[1])) claim
    ), pair as materialized (
        select a.id, b.id as other, a.replaced_by = b.id or b.replaced_by = a.id or a.topic = b.topic or w.share >= 0.75 as sure
        from fact a join fact b on b.space_id = a.space_id and b.entity_id = a.entity_id and b.id <> a.id
        cross join lateral (
            -- The share of the words of the shorter text that the other text has.
            select count(*) / nullif(least(cardinality(a.words), cardinality(b.words)), 0)::float8 as share
            from unnest(a.words) word where word = any(b.words)) w
        where a.replaced_by = b.id or b.replaced_by = a.id or a.topic = b.topic or w.share >= 0.5
    ), reached as (
        select id, other, coalesce(sure, false) as sure from pair
        union
        select r.id, p.other, r.sure and coalesce(p.sure, false) from reached r join pair p on p.id = r.other and p.other <> r.id
    ), placed as materialized (
        select f.id, max(o.score) as best,
            min(o.start) filter (where r.id is not null and o.start > f.start) as followed,
            min(o.start) filter (where r.sure and o.start > f.start) as surely_followed,
            coalesce(bool_or(r.sure and o.start < f.start), false) as preceded,
            -- A fact of the time in question gets the higher score of another fact that matches about as well. The shares
            -- of the score were set with benchmarks.truth, because a fact in other words has a much lower score.
            max(o.score) filter (where r.id is not null and o.start < f.start and f.score >= 0.45 * o.score) as of_older,
            max(o.score) filter (where o.start < f.start and f.score >= case when r.id is null then 0.95 else 0.9 end * o.score) as of_earlier,
            max(o.score) filter (where o.start > f.start and f.score >= case when r.id is null then 0.83 else 0.59 end * o.score) as of_later
        from fact f
        join fact o on o.space_id = f.space_id and o.entity_id = f.entity_id
        left join reached r on r.id = f.id and r.other = o.id
        group by f.id
    ), anchor as materialized (
        -- The fact that the clause names: "before she moved to Graz".
        select f.space_id, f.entity_id, f.start
        from fact f
        where f.named > 0 and f.entity_id = (select entity_id from fact order by score desc, id limit 1)
        order by f.named desc, f.start, f.id limit 1
    ), older as materialized (
        select f.id, f.score + case when abs(extract(epoch from f.ended - a.start)) < 31 * 86400
            and f.score >= 0.6 * max(f.score) over () then 0.3 else 0 end as fit
        from fact f join anchor a on a.space_id = f.space_id and a.entity_id = f.entity_id and f.start < a.start
    )
    select f.space_id, f.id,
        case
            when during is not null then case
                when least(f.ended, p.surely_followed) <= lower(during) or f.start >= upper(during) and p.preceded then 0.8 * f.score
                when f.start >= upper(during) or f.ended is not null
                    or f.said_at >= lower(during) - interval '1 day' and f.said_at < upper(during) + interval '3 days' then f.score
                else 1 - power(1 - f.score, case when p.surely_followed is null then 1.1 else 1.4 end) end
            when tense = 'first' then greatest(f.score, p.of_later)
            when tense = 'last' then greatest(f.score, p.of_earlier)
            when tense = 'now' then greatest(f.score, p.of_older)
            when tense = 'before' and exists (select from anchor) then case
                when o.fit >= 0.88 * (select max(fit) from older) then 1 - (1 - p.best) * 0.9 else f.score end
            when tense in ('before', 'former') and coalesce(f.ended, p.followed) is not null and f.score >= 0.7 * p.best then
                1 - (1 - p.best) * case when f.ended is null then 0.98 else 0.96 end
            else f.score end,
        f.start
    from fact f
    join placed p on p.id = f.id
    left join older o on o.id = f.id;
end
$$;

comment on function textrawl.order_by_time is
    'New scores of the best facts of a search, so that the fact of the time that the question is about comes first. '
    'Facts of one entity have the same topic if one replaced the other, if they answer the same question, '
    'or if they share half of their words. If scores are equal, the fact with the later start comes '
    'first, or for the tense first the earlier. '
    'Example: select * from textrawl.order_by_time(array[1], array[gen_random_uuid()], array[0.5], ''first'', null, null, array[''english'']);';
