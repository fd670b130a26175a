create function textrawl.list_findings(
    space integer, max_rows integer default 200, credential bytea default null,
    changes jsonb default null  -- see tidy_memory()
)
returns table (
    finding text, kind text,  -- as in proposal
    one uuid, other uuid, relation_type text, valid_until timestamptz, evidence text
)
language plpgsql stable
set search_path from current
set jit = off
as $$
#variable_conflict use_column
begin
    if changes is not null then
        return query
        select 'anchor', 'end', f.id, null::uuid, null::text, null::timestamptz, left(c.value, 500)
        from jsonb_each_text(changes) c join fact f on f.space_id = list_findings.space and f.id = c.key::uuid and f.anchors is not null
        order by f.created_at, f.id;
        return;
    end if;
    -- The surest first, because a fact or an entity has at most one finding at a time.
    return query
    select case when s.name_score = 1 then 'name' else 'same' end, 'merge', s.entity_id, s.other_id, null::text, null::timestamptz,
        format('names %s%% alike, facts in common: %s, relations: %s',
            round(s.name_score * 100), s.shared_facts, s.shared_relations)
    from find_same_entities(min_score => 0.8, max_rows => list_findings.max_rows, spaces => array[space], credential => credential) s
    -- Two people can like the same few things.
    where s.name_score >= 0.6
    order by s.score desc, s.entity_id, s.other_id;
    return query
    select 'disagreement', 'end', p.older, p.newer, null::text, null::timestamptz, p.reason
    from (
        select c.reason, case when said.turned then c.other else c.one end as older, case when said.turned then c.one else c.other end as newer
        from conflicting_facts(20000, list_findings.max_rows, spaces => array[space], credential => credential) c
        join fact a on a.space_id = c.space_id and a.id = c.one
        join fact b on b.space_id = c.space_id and b.id = c.other
        -- What was true later counts, whatever was stored later.
        cross join lateral (select a.valid_from > b.valid_from as turned) said
        -- In prose, the same verb is often about something else.
        where greatest(char_length(a.content), char_length(b.content)) <= 100) p;
    return query
    select 'double', 'end', d.one, d.other, null::text, null::timestamptz,
        coalesce('their meanings are ' || round(d.cosine::numeric * 100) || '% alike', 'the same words')
    from find_doubles(space, list_findings.max_rows, credential) d;
    return query
    select 'question', 'end', a.question, a.answer, null::text, null::timestamptz, 'a newer fact has all of its words'
    from find_answers(space, list_findings.max_rows) a;
    return query
    select 'expired', 'end', e.id, null::uuid, null::text, e.until, 'it ended before ' || (e.until at time zone 'utc')::date
    from find_expired(space, list_findings.max_rows) e;
    return query
    select 'relation', 'relation', r.fact, r.target, r.relation, o.valid_until, o.content
    from find_stated_relations(space, list_findings.max_rows) r join fact o on o.space_id = list_findings.space and o.id = r.fact;
    return query
    select 'stale', 'end', f.id, null::uuid, null::text, null::timestamptz, 'stored on ' || (f.created_at at time zone 'utc')::date || ', ' || f.reasons
    from stale_fact f join observation o on o.space_id = f.space_id and o.id = f.id
    where f.space_id = list_findings.space and f.old and f.unused and o.whole is null
      -- gc takes the memories of the decay tools, and where nothing was recalled, no recall is recorded.
      and not exists (select from retention r where r.space_id = f.space_id and r.observation_id = f.id and r.saved)
      and exists (select from recalled r where r.space_id = list_findings.space)
    order by f.created_at, f.id limit list_findings.max_rows;
end
$$;

comment on function textrawl.list_findings is
    'What is out of order in a space, at most max_rows of each kind: entities under two names, facts that disagree, '
    'repeat each other, answer an open question, have expired, or are stale and never recalled, and relations that facts '
    'state; or only the facts of `changes`. What was rejected or dismissed is left out. Errors: TR010, TR011 (access). '
    'Example: select finding, evidence from textrawl.list_findings(1);';
