create function textrawl.list_proposals(
    author text default null, entity text default null, since timestamptz default null,
    decision text default 'pending',  -- pending, accepted, rejected, withdrawn or any
    max_rows integer default 20, skip integer default 0,
    space integer default null, credential bytea default null,
    local boolean default false  -- true: only those of the repository of this session
)
returns table (
    id uuid, space_name text,
    kind text,  -- fact, relation, merge, end or pin
    entity_name text, entity_type text,
    content text,  -- the fact, or the words of the relation or merge
    relation_type text, to_name text, to_type text,
    source text, confidence real, valid_until timestamptz, said_at timestamptz,
    author_name text, client text, created_at timestamptz,
    state text,  -- pending, accepted, rejected or withdrawn
    decided_at timestamptz, decided_by text,
    reason text,  -- why it was rejected
    evidence text,  -- the sentence that says it, if an LLM found it in a text, or the reason of a finding
    finding text,  -- what tidy_memory() found, or pin
    observation_id uuid, relation_id uuid,  -- what it became
    beside jsonb,  -- pending: stored facts beside it, see proposal_beside(); null if the caller cannot read
    total bigint   -- number of all proposals that match
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    reviewing integer[] := reviewed_spaces(credential, list_proposals.space);
    own       integer[];
    readable  integer[];
    me        integer;
    keys      text[];
begin
    select array_agg(r.space_id) filter (where r.scopes && array['read', 'propose', 'write']),
        array_agg(r.space_id) filter (where 'read' = any(r.scopes)), max(r.actor_id)
    into own, readable, me
    from access_rights(credential) r where list_proposals.space is null or r.space_id = list_proposals.space;
    if own is null then
        perform refuse_access(credential, 'review');
    end if;
    -- Who cannot read a space does not learn its aliases.
    keys := array(select unnest(entity_keys(r, list_proposals.entity)) from unnest(readable) r) || name_key(list_proposals.entity);
    return query
        with matching as materialized (
            select p.*, s.name as in_space, count(*) over () as matches
            from proposal p join space s on s.id = p.space_id
            where (p.space_id = any(reviewing) or p.space_id = any(own) and p.author_id = me)
              and (p.decision is not null or is_pending(p.decision, p.created_at, s.proposal_days))
              and (list_proposals.decision = 'any' or coalesce(p.decision, 'pending') = list_proposals.decision)
              and (list_proposals.author is null
                   or p.author_id = (select a.id from actor a where a.name = list_proposals.author))
              and (list_proposals.entity is null or p.entity_key = any(keys) or p.to_key = any(keys))
              and (list_proposals.since is null or p.created_at >= list_proposals.since)
              and (not local or split_part(p.repository, '#', 1) = any((select session_repositories())::text[]))
            order by p.created_at, p.id limit max_rows offset skip
        )
        select p.id, p.in_space, p.kind, p.entity_name, p.entity_type, proposal_text(p.content, p.relation_type, p.to_name),
            p.relation_type, p.to_name, p.to_type, p.source, p.confidence, p.valid_until, p.said_at,
            a.name, p.client, p.created_at, coalesce(p.decision, 'pending'), p.decided_at, d.name,
            case when p.decision = 'rejected' then p.reason end, p.evidence, p.finding, p.observation_id, p.relation_id,
            case when p.decision is null and p.space_id = any(readable) then proposal_beside(p.space_id, p.id) end, p.matches
        from matching p
        join actor a on a.id = p.author_id
        left join actor d on d.id = p.decided_by
        order by p.created_at, p.id;
end
$$;

comment on function textrawl.list_proposals is
    'Proposals, oldest first: all of the spaces in which the caller has read and review, and otherwise only the '
    'caller''s own. Expired proposals are left out. Errors: TR010, TR011 (access). '
    'Example: select author_name, entity_name, content, beside from textrawl.list_proposals();';
