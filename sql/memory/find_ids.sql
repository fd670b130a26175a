create function textrawl.find_ids(
    reference text, spaces integer[] default null, credential bytea default null, max_rows integer default 10
) returns table (
    observation_id uuid, entity_id uuid, space text, entity_name text, entity_type text, content text, source text,
    created_at timestamptz, said_at timestamptz, author text, score real, cosine real, coverage real,
    relation_id uuid, relation_type text, to_entity text, to_entity_type text,
    document_id uuid, part integer, line integer, several_authors boolean, valid_from timestamptz, valid_until timestamptz,
    dated boolean, given_type text,
    origin text, anchors text[], outlived boolean
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, find_ids.spaces) as ids
    ), span as materialized (
        select s.first, s.last from textrawl.id_span(reference) s
    ), found as (
        select o.space_id, o.id from textrawl.observation o, span
        where o.space_id = any((select ids from scope)::integer[]) and o.id between span.first and span.last and o.whole is null
        union
        select o.space_id, o.id from textrawl.observation o, span
        where o.space_id = any((select ids from scope)::integer[]) and o.entity_id between span.first and span.last and o.whole is null
    )
    select o.id, e.id, s.name, e.name, e.entity_type, o.content, o.source, o.created_at, o.said_at, a.name, 1::real, null::real, 1::real,
        r.id, textrawl.relation_label(coalesce(r.label, r.relation_type)), t.name, t.entity_type, null::uuid, null::integer, null::integer,
        textrawl.has_several_authors(o.space_id), o.valid_from, o.valid_until, false,
        nullif(nullif(textrawl.free_type(e.entity_type, e.metadata), e.entity_type), 'Generic'),
        textrawl.find_origin(o.origin, o.tool, o.client, o.source), textrawl.session_anchors(o.repository, o.anchors, o.space_id, o.evidence),
        o.valid_until is null and textrawl.is_outlived(o.claim, greatest(o.said_at, o.confirmed_at), l.lives)
    from found
    join textrawl.observation o on o.space_id = found.space_id and o.id = found.id
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    join textrawl.space s on s.id = o.space_id
    join textrawl.actor a on a.id = o.author_id
    left join textrawl.space_statistics l on l.space_id = o.space_id
    left join textrawl.relation r on r.space_id = o.space_id and r.id = o.relation_id
    left join textrawl.entity t on t.space_id = r.space_id and t.id = r.to_entity
    where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
    order by o.created_at desc, o.id limit max_rows;
end;

comment on function textrawl.find_ids is
    'The valid fact or relation with an id, or the facts of the entity with this id, newest first, in the form of '
    'search_memory(). The first 8 or more characters of an id are enough. Errors: TR010, TR011 (access). '
    'Example: select entity_name, content from textrawl.find_ids(''8081eaf7'');';
