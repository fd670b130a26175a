create function textrawl.plan_decision(proposals text[], space integer default null, credential bytea default null)
returns table (
    id uuid, space_name text, author_name text, entity_name text, content text,
    outcome text,  -- of accepting: new, repeats (stored already), replaces, merges, ends, pins, or refused, see store_proposal()
    fault text,    -- of a refused proposal: ended, gone (what it replaces or what was found), pinned, or full (too much is pinned)
    beside jsonb   -- stored facts beside it, see proposal_beside()
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces    integer[] := reviewed_spaces(credential, plan_decision.space);
    space_ids integer[];
    ids       uuid[];
begin
    if spaces = '{}' then
        perform refuse_access(credential, 'review');
    end if;
    -- Find them before the join. It could end without a look at unknown ones.
    select array_agg(f.space_id), array_agg(f.id) into space_ids, ids from find_proposals(proposals, spaces) f;
    return query
        select p.id, s.name, a.name, p.entity_name, proposal_text(p.content, p.relation_type, p.to_name),
            case when r.fault is not null then 'refused'
                when p.kind = 'merge' then 'merges' when p.kind = 'end' then 'ends' when p.kind = 'pin' then 'pins'
                when b.beside @> '[{"why": "repeats"}]' then 'repeats'
                when b.beside @> '[{"why": "replaces"}]' then 'replaces' else 'new' end,
            r.fault, b.beside
        from unnest(space_ids, ids) f(space_id, id)
        join proposal p on p.space_id = f.space_id and p.id = f.id
        join space s on s.id = p.space_id
        join actor a on a.id = p.author_id
        cross join lateral (
            select case when past_end(p.valid_until) > p.created_at then 'ended'
                when p.replaces is not null and replaced_fault(p.space_id, p.entity_name, p.replaces) is not null then 'gone'
                when p.kind = 'pin' then pin_fault(p.space_id, p.one)
                when p.finding is not null then finding_fault(p.space_id, p.kind, p.one, p.other) end as fault) r
        cross join lateral (select proposal_beside(p.space_id, p.id) as beside) b
        order by p.created_at, p.id;
end
$$;

comment on function textrawl.plan_decision is
    'What accepting pending proposals would store now, with the stored facts beside them. Nothing is changed. Errors: '
    'TR010, TR011 (access), TR016 (not a pending proposal). '
    'Example: select entity_name, content, outcome from textrawl.plan_decision(array[''0b5c9e1f'']);';
