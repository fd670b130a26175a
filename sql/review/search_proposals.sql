create function textrawl.search_proposals(
    query text,
    spaces integer[] default null,
    entity_types text[] default null,
    max_rows integer default 10,
    model integer default null,
    vector halfvec default null,
    semantic boolean default false,
    credential bytea default null,
    since timestamptz default null,
    until timestamptz default null,
    around tstzrange default null,
    least_score double precision default null
)
returns table (
    -- As in search_memory(). observation_id is the id of the proposal.
    observation_id uuid, entity_id uuid, space text, entity_name text, entity_type text,
    content text, source text, created_at timestamptz, said_at timestamptz, author text,
    score real, cosine real, coverage real,
    relation_id uuid, relation_type text, to_entity text, to_entity_type text,
    document_id uuid, part integer, line integer, several_authors boolean, valid_from timestamptz, valid_until timestamptz, dated boolean,
    given_type text, origin text, anchors text[], outlived boolean
)
language plpgsql stable security definer rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    own       integer[];
    me        integer;
    terms     tsquery[];
    sums      double precision[];
    model_row embedding_model;
    weight    record;
    here      text[];
begin
    select array_agg(r.space_id), max(r.actor_id) into own, me
    from access_rights(credential) r join space s on s.id = r.space_id
    where s.tier is null and r.scopes @> array['read', 'propose'] and (search_proposals.spaces is null or r.space_id = any(search_proposals.spaces));
    if own is null then
        return;
    end if;
    here := session_repositories(own, query);
    select * into model_row from embedding_model m where m.id = model and vector is not null;
    select * into weight from ranking_weights(model_row.name);
    if not semantic then
        query := (select c.question from name_caller(query, search_languages(own), own, credential) c);
        select t.terms, subset_sums(t.weights) into terms, sums from search_terms(query, own) t;
    end if;
    return query
        with mine as materialized (
            select p.*, s.name as in_space, matched_terms(p.fts, terms) as matched,
                case when p.model_id = model_row.id then 1 - (p.vector <=> search_proposals.vector) end as near
            from proposal p join space s on s.id = p.space_id
            where p.space_id = any(own) and p.author_id = me and is_pending(p.decision, p.created_at, s.proposal_days)
              and is_of_repository(p.repository, here)
              and is_within(coalesce(p.said_at, p.created_at), since, until)
              and (entity_types is null or nearest_type(p.entity_type) = any(entity_types) or lower(p.entity_type) = any(entity_types))
        ), scored as materialized (
            select m.*, case when terms is not null then least(1, terms_weight(matched, sums) / length_divisor(length(m.fts))) end as covered,
                search_likeness(near, model_row.cosine_floor, model_row.cosine_ceiling) as likeness
            from mine m
        )
        select c.id, coalesce(e.id, md5(c.space_id || c.entity_key)::uuid), c.in_space, coalesce(e.name, c.entity_name),
            coalesce(e.entity_type, nearest_type(c.entity_type)), proposal_text(c.content, c.relation_type, c.to_name),
            coalesce(c.source, 'conversation'), c.created_at, coalesce(c.said_at, c.created_at), a.name,
            c.shown::real as score,
            c.near::real, c.covered::real,
            case when c.kind = 'relation' then c.id end, c.relation_type, c.to_name, c.to_type,
            null::uuid, null::integer, null::integer, false, c.valid_from, c.valid_until, false,
            nullif(nullif(coalesce(free_type(e.entity_type, e.metadata), c.entity_type), coalesce(e.entity_type, nearest_type(c.entity_type))), 'Generic'),
            find_origin(null, c.tool, c.client, c.source), null::text[], false
        from (
            select *, search_score(
                likeness, covered, weight.base + case when said_at <@ around then weight.period else 0 end, weight.meaning, weight.words) as shown
            from scored
        ) c
        join actor a on a.id = c.author_id
        left join entity e on e.space_id = c.space_id and e.name_key = entity_key(c.space_id, c.entity_name)
        where (c.covered > 0 or c.likeness > 0)
          and c.shown >= coalesce(least_score, (select b.best from answer_bar(semantic) b))
        order by score desc, c.created_at desc, c.id limit max_rows;
end
$$;

comment on function textrawl.search_proposals is
    'The caller''s own pending proposals that match a query, scored like facts, but without neighbours. The caller needs '
    'the scopes read and propose in the space; other callers get no row. '
    'Example: select entity_name, content, score from textrawl.search_proposals(''favourite editor'');';
