create function textrawl.search_memory(
    query text,
    spaces integer[] default null,
    entity_types text[] default null,
    as_of timestamptz default null,  -- infinity: facts of all times
    max_rows integer default 10,
    model integer default null,
    vector halfvec default null,
    semantic boolean default false,
    credential bytea default null,
    since timestamptz default null,
    until timestamptz default null,
    around tstzrange default null,  -- the period that the question names
    least_score double precision default null,
    neighbours boolean default true,
    sources text[] default array['facts'],  -- facts, documents or both
    graphs text[] default null,     -- if documents are searched: only these graphs; null: all
    ceiling integer default 8000,   -- most tokens of documents in the answer
    -- The time that the question is about, see order_by_time(). Ended facts are found unless it is now.
    tense text default null,
    during tstzrange default null,
    clause text default null,
    about text default null,        -- only the facts of the entities with this name or alias
    quoting boolean default false,  -- of good chunks, return only the sentences that answer, see quote_passage()
    sessions text[] default null    -- leave out the journal entries of these chats; an empty list: all journal entries
)
returns table (
    observation_id uuid, entity_id uuid, space_id integer, space text, entity_name text, entity_type text,
    content text, source text, confidence real, valid_until timestamptz, created_at timestamptz, said_at timestamptz,
    author text, score real, cosine real, coverage real,
    relation_id uuid,  -- of the relation that the row states; null for a fact
    relation_type text, to_entity text, to_entity_type text,
    document_id uuid,  -- source of the chunk; null for a fact
    part integer, line integer, tokens integer,  -- of the chunk
    over_cap boolean,  -- true: the text was left out, because the answer would exceed the cap of its graph or the ceiling
    several_authors boolean, -- true: several authors write to the space, so an answer says who wrote the fact
    valid_from timestamptz,
    dated boolean, -- true: the question is about other times than now, so an answer shows the periods
    given_type text,  -- the word that a caller gave as the type of the entity, if it differs
    origin text,      -- see find_origin(); null of a chunk, whose line says that a document has it
    anchors text[],   -- see session_anchors()
    outlived boolean, -- see is_outlived()
    log_odds double precision[]  -- they add up to the logarithm of the odds of the score, see ranking_weight; null if semantic
)
language plpgsql stable security definer rows 10
set search_path from current
set jit = off
-- Plan each statement once per session, because these settings leave the planner only the index scan anyway.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set random_page_cost = 1.1
as $$
#variable_conflict use_column
declare
    scoped     integer[] := case when 'facts' = any(sources) then readable_spaces(credential, spaces) else '{}' end;
    with_facts integer[] := case when quoting then readable_spaces(credential) end;
    candidates integer := greatest(24, 2 * max_rows);
    terms      tsquery[];
    shares     double precision[];
    selecting  tsquery;
    fallback   tsquery;
    common     boolean := false;
    plan       record;
    model_row  embedding_model;
    ordered    integer[];  -- the spaces in which neighbours count
    query_words text[];
    exact      text[];  -- see exact_words()
    least_best double precision;  -- the score that one fact needs, or else the answer is empty; null: none
    unheard    boolean := false;  -- no fact has any word of the query
    sums       double precision[];
    caller     text[];  -- the names of the caller, if the query has I, my or such a word
    caller_mask integer := 0;
    weight     record;  -- of each kind of evidence
    worded     boolean := false;  -- the query has words that count; otherwise the likeness alone is the score
    languages  text[];
    timed      boolean := num_nonnulls(tense, during) > 0 and as_of is null and not semantic and not 'documents' = any(sources);
    period     tstzrange := case when timed then during end;
    of_period  integer := 0;
    moment     timestamptz := case when timed and (tense <> 'now' or during is not null) then 'infinity' else as_of end;
    -- The given entity_types, if one is not among the seven types. Only entities have other types, facts do not.
    typed      text[];
    parts      boolean := case when sessions = '{}' then false end;  -- of journal entries
    here       text[] := session_repositories(scoped, query);
begin
    if 'documents' = any(sources) then
        scoped := scoped || array(select g.space_id from readable_graphs(credential, graphs) g order by g.space_id);
    end if;
    if entity_types is not null and entity_types is distinct from wanted_types(entity_types, scoped) then
        typed := entity_types;
        entity_types := wanted_types(entity_types, scoped);
        candidates := greatest(candidates, 1000);
    end if;
    if vector is not null then
        select * into model_row from embedding_model m where m.id = model;
    end if;
    if model_row.id is null and model is not null and vector is not null then
        raise exception using errcode = 'TR049', message = 'the model was dropped';
    elsif vector is null and semantic or vector is not null and model is null then
        raise exception using errcode = 'invalid_parameter_value',
            message = 'search by meaning needs a vector and the id of the model that made it';
    end if;

    select * into weight from ranking_weights(model_row.name);
    if quoting then
        least_score := coalesce(least_score, 0.6);
        neighbours := false;
    end if;
    if least_score is null then
        select b.score, b.best into least_score, least_best from answer_bar(semantic) b;
        if timed or around is not null then
            least_best := 0;  -- often no fact has the words that name the time
        end if;
    end if;

    select a.* into plan from assess_spaces(scoped, entity_types, model, since, until) a;
    if not neighbours then
        ordered := '{}';
    elsif plan.unordered is not null then
        ordered := array(select unnest(scoped) except select unnest(plan.unordered));
    else
        ordered := scoped;
    end if;
    if not semantic then
        languages := search_languages(scoped);
        select c.question, case when not c.alone then c.names end into query, caller from name_caller(query, languages, scoped, credential) c;
        if around is null and query ~ '[[:digit:]@/]' then
            exact := exact_words(query);
        end if;
        if around is not null and tense is distinct from 'now' then
            -- Facts have the words of the day on which they were said: those of the first and the last day of the period.
            query := concat_ws(' ', query, (
                select string_agg(word, ' ') from (
                    select string_to_table(date_words(lower(around)), ' ') intersect
                    select string_to_table(date_words(upper(around) - interval '1 microsecond'), ' ')) shared (word)));
        end if;
        select t.terms, subset_sums(t.weights), t.selecting, t.fallback, t.shares into terms, sums, selecting, fallback, shares
        from search_terms(query, scoped, plan.stale, languages, plan.facts) t;
        -- If more than a tenth of all facts have each word, the index would list all of them before the first fact is checked.
        -- Check the newest facts instead.
        if plan.large and plan.most and num_nonnulls(entity_types, since, until) = 0 then
            common := coalesce((select min(s) from unnest(shares) s) > 0.1, false);
        end if;
        unheard := coalesce(array_remove(shares, null) = '{}', false);
        if caller is not null then
            caller_mask := matched_terms(to_tsvector(languages[1]::regconfig, search_text(array_to_string(caller, ' '))), terms);
        end if;
        if period is not null then
            -- A fact that was valid at the time that the query names has the words of this time, as if it was said then.
            of_period := matched_terms(to_tsvector(languages[1]::regconfig, date_words(lower(period))), terms);
        end if;
        query_words := tsvector_to_array(to_tsvector('simple', search_text(query)));
        worded := terms is not null;
    end if;
    if not plan.most then
        -- If these spaces hold most facts, a search of the index for the name of each space costs more than it saves.
        select selecting && s.scope, fallback && s.scope into selecting, fallback
        from (select string_agg(quote_literal('~s' || space), ' | ')::tsquery as scope from unnest(scoped) space) s;
    end if;

    return query
        with lexical as materialized (
            select m.space_id, m.id, m.place <= 10 as leads
            from matching_facts(
                terms, sums, selecting, fallback, common, scoped, entity_types, moment, candidates, since, until,
                parts => parts, about => about, here => here) with ordinality m (space_id, id, place)
            where not semantic or about is not null
        ),
        nearest as materialized (
            select n.space_id, n.id, n.cosine, n.place <= 10 as leads
            from nearest_facts(
                -- Three passages are wanted, and words find them too: with half of the breadth, none of 300 questions beside
                -- 100,000 chunks got another first fact, and searches took a seventh less time.
                model, vector, scoped, entity_types, moment, candidates, plan.large, plan.rare,
                plan.breadth / case when quoting then 2 else 1 end, plan.own,
                since, until, parts, here) with ordinality n (space_id, id, cosine, place)
            where vector is not null and about is null
        ),
        hit as materialized (
            select o.space_id, o.id, o.entity_id, o.relation_id, o.created_at, o.said_at, o.valid_from, o.valid_until, o.ordinal,
                o.fts, o.whole, key.cosine, key.leads
            from (
                select space_id, id, max(cosine) as cosine, bool_or(leads) as leads
                from (select space_id, id, cosine, leads from nearest union all select space_id, id, null, leads from lexical) arms
                group by space_id, id
            ) key
            -- `offset 0` makes the planner look up each row by its key. Otherwise it reads all rows of a small space.
            cross join lateral (select * from observation o where o.space_id = key.space_id and o.id = key.id offset 0) o
        ),
        found as materialized (
            select f.space_id, f.id, f.entity_id, f.relation_id, f.created_at, f.said_at, f.valid_from, f.valid_until, f.ordinal,
                matched_terms(f.fts, terms) as matched, length(f.fts) as words, f.cosine, 0 as via
            from (
                select * from hit
                union all
                -- Many relevant facts share no word with the query, but were stored just before or after a fact that does.
                select o.space_id, o.id, o.entity_id, o.relation_id, o.created_at, o.said_at, o.valid_from, o.valid_until, o.ordinal,
                    o.fts, o.whole, null, false
                from (
                    select space_id, unnest(array[ordinal - 1, ordinal + 1]) as ordinal from hit
                    where leads and not semantic and about is null and space_id = any(ordered)
                    except
                    select space_id, ordinal from hit
                ) adjacent
                join observation o using (space_id, ordinal)
                where is_searchable(o.valid_from, o.valid_until, o.closed_at, o.created_at, o.period, o.replaced_by, moment) and is_within(o.said_at, since, until)
                    and (entity_types is null or o.entity_type = any(entity_types)) and is_of_repository(o.repository, here)
            ) f
            where (here is null or f.relation_id is null or is_local_relation(f.space_id, f.relation_id))
                and (sessions is null or not is_entry_part(f.space_id, f.whole, nullif(sessions, '{}'))) and (typed is null or exists (
                select from entity e where e.space_id = f.space_id and e.id = f.entity_id and has_type(e.entity_type, e.metadata, typed)))
        ),
        subject as materialized (
            select e.space_id, e.id, e.name, tsvector_to_array(e.fts) as words, tsvector_to_array(e.fts) <@ query_words as whole
            -- The words of a fact include the name of its entity.
            from (select distinct space_id, entity_id from found where matched > 0) f
            cross join lateral (select * from entity e where e.space_id = f.space_id and e.id = f.entity_id offset 0) e
            -- One or two letters are more often a word than a name, but not with a sign (C#) or as ideographs.
            where query_words is not null and (char_length(e.name) > 2 or e.name ~ '[+#\u3040-\u9fff\uac00-\ud7a3]' or e.name = any(caller)) and e.fts <> ''
                and tsvector_to_array(e.fts) && query_words
        ),
        named as materialized (
            select entities, spaces, masks, mask, only_caller,
                -- Of two Annas the query names one.
                array(select o.id from subject o where not o.whole and exists (
                    select from subject s where s.whole and s.words && o.words and not s.words <@ o.words)) as namesakes,
                -- The names say which facts are meant, so the other words are evidence. If there are none, the names are.
                case when rest > 0.001 then ~mask else -1 end as counted, case when rest > 0.001 then rest else 1 end as rest
            from (
                select array_agg(s.id) as entities, array_agg(s.space_id) as spaces, array_agg(s.mask) as masks, coalesce(bit_or(s.mask), 0) as mask
                from (select *, matched_terms(to_tsvector(languages[1]::regconfig, search_text(name)), terms) as mask from subject where whole) s
                -- The longest name counts: a query about Ann Lee is not about Ann.
                where not exists (select from subject longer where longer.whole and longer.words @> s.words and not longer.words <@ s.words)
            ) names
            cross join lateral (
                select 1 - coalesce(terms_weight(mask, sums), 0) as rest, caller_mask > 0 and mask & ~caller_mask = 0 as only_caller) shares
        ),
        related as materialized (
            -- Facts one relation away from the named entities, if the query asks for this relation.
            select r.space_id, r.id, r.entity_id, r.relation_id, r.created_at, r.said_at, r.valid_from, r.valid_until, r.ordinal,
                r.matched, r.words, null::double precision as cosine, r.via
            from named cross join lateral related_facts(
                query_words, terms, sums, mask, spaces, entities, entity_types, moment, since, until, here) r
            where entities is not null and about is null
        ),
        candidate as (
            select g.space_id, g.id, g.entity_id, g.relation_id, g.created_at, g.said_at, g.valid_from, g.ordinal, g.words, g.via,
                entities, namesakes, masks, only_caller, counted, rest, held, matched | case when held then of_period else 0 end as has, g.space_id = any(ordered) as joins,
                case when vector is null then null when g.cosine is not null then g.cosine else (
                    -- A text without any known word has a vector of zeros. Its cosine with any vector is NaN.
                    select nullif(1 - (v.vector <=> search_memory.vector), 'nan') from embedding v
                    where v.model_id = search_memory.model and v.space_id = g.space_id and v.observation_id = g.id) end as likely
            from (
                select * from found where (space_id, id) not in (select space_id, id from related)
                union all
                select * from related
            ) g
            cross join named
            cross join lateral (
                -- A fact that began before the period and has no end is left out: nobody knows whether it still held then.
                select g.valid_from <@ period or g.valid_from < upper(period) and lower(period) < g.valid_until as held) h
        ),
        evidence as (
            -- One row for each fact, with a column for each kind of evidence: see ranking_weight.
            select c.space_id, c.id, c.entity_id, c.valid_from, c.created_at, c.ordinal, c.likely as cosine,
                case when not worded then null
                    -- The other words are no evidence for a fact of another entity unless it has the name, too.
                    when other then least(1, terms_weight(has, sums) / length_divisor(words))
                    else least(1, (
                        terms_weight(has & counted, sums) / length_divisor(words) + 0.6 * terms_weight(via & ~has & counted, sums)) / rest)
                    end as coverage,
                case when entities is null or entity_id = any(entities) or via > 0 then 0
                    when only_caller then -0.25
                    when exists (select from unnest(masks) mask where mask > 0 and has & mask = mask) then
                        case when relation_id is null then -0.5 else 0 end  -- a relation is about both of its ends
                    when entity_id = any(namesakes) then -2
                    else -1 end as about,
                case when exact is null then 0 else (
                    select cardinality(array(select unnest(exact) intersect select unnest(exact_words(o.content)))) / cardinality(exact)::float8
                    from observation o where o.space_id = c.space_id and o.id = c.id) end as exact,
                case when joins and worded then terms_weight((before | after) & ~has & counted, sums) / rest else 0 end as beside,
                -- The shorter the time, the fewer facts have it by chance: a day counts 2.3 times as much as a year. With 1 for
                -- all times, 19 instead of 24 questions of benchmarks.days have the right fact first.
                case when said_at <@ around or held then case when tense = 'now' then 1 else greatest(1, ln(1000 / greatest(1, extract(epoch from upper(around) - lower(around)) / 86400.0)) / 3) end
                    -- People speak of an event some days after it, or plan it the day before.
                    when said_at >= lower(around) - interval '1 day' and said_at < upper(around) + interval '3 days' then 0.5 else 0 end as period,
                search_likeness(likely, model_row.cosine_floor, model_row.cosine_ceiling) as likeness,
                joins and worded as joins
            from (
                select *, case when lag(ordinal) over neighbours = ordinal - 1 then lag(has) over neighbours else 0 end as before,
                    case when lead(ordinal) over neighbours = ordinal + 1 then lead(has) over neighbours else 0 end as after
                from candidate
                window neighbours as (partition by space_id order by ordinal)
            ) c
            cross join lateral (
                select entities is not null and entity_id <> all(entities) and via = 0 and not only_caller as other) about_another
            order by space_id, ordinal  -- so that each kind of evidence is worked out once, and rows are sorted once
        ),
        weighed as (
            -- Neighbours help only a fact that has a word of the query or some likeness itself.
            select *, case when worded then weight.base + weight.meaning * coalesce(likeness, 0.7 * coverage) + weight.words * (coverage + exact)
                    + weight.about * about + case when supported then weight.beside * beside else 0 end
                    + weight.period * period + case when unheard then weight.unheard else 0 end
                else coalesce(likeness, 0) end as own
            from evidence cross join lateral (select joins and (coverage > 0 or likeness > 0) as supported) s
            order by space_id, ordinal
        ),
        front as materialized (
            -- Facts stored just before and after a good match often concern the same subject. Only a neighbour with more
            -- evidence has an effect, so the best fact keeps its score.
            select space_id, id, entity_id, valid_from, cosine, likeness, coverage, exact, about, beside, period, supported, lift,
                case when worded then 1 / (1 + exp(-odds)) else odds end as score,
                row_number() over (order by odds desc, created_at desc, space_id, id) as place
            from (
                select *, own + weight.better * lift as odds
                from (
                    select *, case when supported then max(own) over (
                        partition by space_id order by ordinal range between 2 preceding and 2 following) - own else 0 end as lift
                    from weighed
                ) lifted
                order by odds desc, created_at desc, space_id, id limit greatest(max_rows, case when timed then 20 else 10 end)
            ) ranked
        ),
        in_time as materialized (
            select t.* from (
                select array_agg(space_id order by place) as spaces, array_agg(id order by place) as ids, array_agg(score order by place) as scores
                from front where place <= case when timed then 20 else 10 end and worded and (timed or around is null)
                -- Otherwise no fact changes its place, because no entity has facts of two days and no scores are equal.
                having timed or as_of is not null or count(distinct score) < count(*)
                    or count(distinct (entity_id, (valid_from at time zone 'UTC')::date)) > count(distinct entity_id)
            ) f cross join lateral order_by_time(
                f.spaces, f.ids, f.scores, case when timed then tense end, case when timed then during end, clause, as_of) t
        ),
        best as materialized (
            select f.*, coalesce(t.score, f.score) as shown,
                row_number() over (order by coalesce(t.score, f.score) desc, t.turn, f.place) as rank
            from front f left join in_time t using (space_id, id)
            order by rank limit max_rows
        ),
        of_several as materialized (
            -- `offset 0` keeps the planner from calling the function for each row before the rows become distinct.
            select coalesce(array_agg(s.space_id), '{}') as ids
            from (select distinct space_id from best where shown > 0 offset 0) s where has_several_authors(s.space_id)
        )
        select o.id, o.entity_id, o.space_id, b.space, e.name, o.entity_type, case when not capped.over then coalesce(q.passage, o.content) end,
            o.source, o.confidence, o.valid_until, o.created_at, o.said_at, a.name, b.worth::real, b.cosine::real,
            b.coverage::real, r.id, relation_label(coalesce(r.label, r.relation_type)), target.name, target.entity_type,
            case when b.tokens is not null then o.whole end, o.part::integer, b.line + coalesce(q.skipped, 0), b.tokens, capped.over,
            o.space_id = any((select ids from of_several)::integer[]), o.valid_from,
            as_of is null and (moment is not distinct from 'infinity' or coalesce(o.valid_until < o.created_at, false)) and b.tokens is null,
            nullif(nullif(free_type(e.entity_type, e.metadata), e.entity_type), 'Generic'),
            case when b.tokens is null then find_origin(o.origin, o.tool, o.client, o.source) end,
            session_anchors(o.repository, o.anchors, o.space_id, o.evidence),
            as_of is null and o.valid_until is null and is_outlived(o.claim, greatest(o.said_at, o.confirmed_at), t.lives),
            case when worded then array[weight.base, weight.meaning * coalesce(b.likeness, 0.7 * b.coverage), weight.words * (b.coverage + b.exact),
                weight.about * b.about, case when b.supported then weight.beside * b.beside else 0 end, weight.period * b.period,
                case when unheard then weight.unheard else 0 end, weight.better * b.lift]
                || coalesce(ln(least(b.shown, 0.9999) / (1 - least(b.shown, 0.9999))) - ln(b.score / (1 - b.score)), 0) end
        from (
            -- The sums grow with the rank, so the chunks with the lowest scores are left out.
            select g.*, sum(g.tokens) filter (where not g.over) over (order by g.rank) as of_all
            from (
                select b.*, w.worth, c.tokens, c.line, s.name as space, s.language,
                    sum(c.tokens) over (partition by b.space_id order by b.rank) > recall_cap(s.tier, s.recall_tokens) as over
                from best b
                join space s on s.id = b.space_id
                left join chunk c on c.space_id = b.space_id and c.observation_id = b.id
                -- A chunk has more words than a fact. With 0.85 of its score, 1 of 186 questions about facts lost its
                -- first place to 100 documents, and with all of it 5 (small model, development sets of benchmarks.everyday). The
                -- least score is for the whole score, or else "what is the deposit for the Tunis flat?" finds no passage.
                -- A note about an entity that the memory knows is worth as much as the facts about it.
                cross join lateral (select b.shown * case when quoting and c.tokens is not null and not exists (
                    select from entity note join entity known using (name_key)
                    where note.space_id = b.space_id and note.id = b.entity_id and known.space_id = any(with_facts)
                ) then 0.85 else 1 end as worth) w
                where b.shown > 0 and b.shown >= least_score
                    and (least_best is null or exists (select from best where shown >= least_best))) g) b
        join observation o on o.space_id = b.space_id and o.id = b.id
        join entity e on e.space_id = o.space_id and e.id = o.entity_id
        join actor a on a.id = o.author_id
        left join space_statistics t on t.space_id = o.space_id
        left join relation r on r.space_id = o.space_id and r.id = o.relation_id
        left join entity target on target.space_id = r.space_id and target.id = r.to_entity
        cross join lateral (
            select b.tokens is not null and (b.over or b.of_all > ceiling) as over
        ) capped
        -- quote_passage() is strict, so a row without a passage costs nothing. A condition of the join would call it for each row.
        left join lateral quote_passage(
            case when quoting and b.tokens is not null then o.content end, query, b.language::regconfig) q on true
        order by b.rank;
end
$$;

comment on function textrawl.search_memory is
    'Search facts and relations by words and, if you give a vector of the query, also by meaning. The score is from 0 '
    'to 1; the best comes first. The search covers the given spaces, or all spaces that you can read. With `sources` it '
    'also covers the chunks of graphs. If '
    '`neighbours` is false, only the words and the vector of a fact count, not those of its neighbours. '
    'Errors: TR010, TR011 (access), TR049 (the model was dropped), TR060 (a given space is a graph). '
    'Example: select entity_name, content, score from textrawl.search_memory(''favourite editor'');';
