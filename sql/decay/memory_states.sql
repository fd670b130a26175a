create function textrawl.memory_states(space integer)
returns table (
    space_id integer, observation_id uuid, entity_id uuid, author_id integer,
    whole uuid,    -- md5 of a long text, otherwise null
    content text,  -- of a long text only the first part: memory_text() returns the whole text
    created_at timestamptz, valid_from timestamptz, valid_until timestamptz, closed_at timestamptz,
    saved boolean, tags text[], entities text[], source text, context text, extra jsonb,
    strength double precision, use_count integer, last_used timestamptz,
    status text, ended_at timestamptz, promoted_at timestamptz, promoted_to text,
    last_review_at timestamptz, review_count integer, cross_domain_count integer,
    local boolean  -- see local_facts()
)
language sql stable parallel safe
begin atomic
    -- The function sets no options, so that the planner can inline it. A function cannot read a view instead, because
    -- a migration creates the views after the functions.
    select o.space_id, o.id, o.entity_id, o.author_id, o.whole, o.content, o.created_at, o.valid_from, o.valid_until, o.closed_at,
        coalesce(r.saved, false), coalesce(r.tags, '{}'), coalesce(r.entities, '{}'), r.source, r.context, coalesce(r.extra, '{}'),
        coalesce(r.strength, 1), coalesce(r.use_count, 0), coalesce(r.last_used, o.created_at),
        coalesce(r.status, 'active'), r.ended_at, r.promoted_at, r.promoted_to,
        r.last_review_at, coalesce(r.review_count, 0), coalesce(r.cross_domain_count, 0),
        (select textrawl.session_repositories()) is null
            or textrawl.is_of_repository(o.repository, (select textrawl.session_repositories()))
    from textrawl.fact o
    left join textrawl.retention r on r.space_id = o.space_id and r.observation_id = o.id
    where o.space_id = memory_states.space and coalesce(o.part, 1) = 1;
end;

comment on function textrawl.memory_states is
    'Every memory of a space with its strength, uses and status. A fact that the decay tools do not know yet has the '
    'values of a new memory. '
    'Example: select content, use_count, last_used from textrawl.memory_states(1) where status = ''active'';';
