create function textrawl.entity_proposals(
    entity text, max_rows integer default 20, spaces integer[] default null, credential bytea default null
)
returns table (
    id uuid, space text, entity_name text, entity_type text,
    content text,  -- null for a relation
    relation_type text, to_name text, source text, confidence real,
    created_at timestamptz, said_at timestamptz, author text
)
language sql stable security definer rows 5
set search_path from current
begin atomic
    select p.id, s.name, p.entity_name, textrawl.nearest_type(p.entity_type), p.content, p.relation_type, p.to_name,
        coalesce(p.source, 'conversation'), coalesce(p.confidence, 1), p.created_at, coalesce(p.said_at, p.created_at), a.name
    from textrawl.access_rights(credential) r
    join textrawl.space s on s.id = r.space_id
    join textrawl.proposal p on p.space_id = r.space_id and p.author_id = r.actor_id
    join textrawl.actor a on a.id = p.author_id
    where r.scopes @> array['read', 'propose'] and (entity_proposals.spaces is null or r.space_id = any(entity_proposals.spaces))
      and p.entity_key = any(textrawl.entity_keys(r.space_id, entity)) and p.finding is null and textrawl.is_pending(p.decision, p.created_at, s.proposal_days)
      and textrawl.is_of_repository(p.repository, (select textrawl.session_repositories()))
    order by p.created_at desc, p.id limit max_rows;
end;

comment on function textrawl.entity_proposals is
    'The caller''s own pending proposals about an entity, newest first. The caller needs the scopes read and propose in '
    'the space; other callers get no row. '
    'Example: select content, created_at from textrawl.entity_proposals(''Ada'');';
