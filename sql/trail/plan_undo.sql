create function textrawl.plan_undo(
    author text, since timestamptz, space integer default null, credential bytea default null,
    run uuid default null  -- only what this import wrote
)
returns table (
    space_name text,
    action text,      -- the planned change of the row:
                      --   remove, drop entity, lost (it was forgotten, which cannot be undone)
                      --   revive (it becomes valid again)
                      --   reset (source, confidence, end and said_at, the text of a document, or the decision of a
                      --   proposal), move back, retype
                      --   kept (something later builds on it, an equal row is valid, or it is a merge or a split)
    entity_name text, kind text, id uuid, content text,
    later_author text, later_at timestamptz  -- kept: author and time of the later event or row
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces    integer[] := administered_spaces(credential, plan_undo.space);
    author_id integer := find_author(plan_undo.author);
begin
    return query
        with chosen as materialized (
            select t.id as space_id, events_to_undo(t.id, author_id, plan_undo.since, run) as events from unnest(spaces) t (id)
        ), step as (
            select c.space_id, p.* from chosen c
            cross join lateral plan_space_undo(c.space_id, undoable_events(c.space_id, c.events)) p where c.events is not null
            union all
            select c.space_id, 'kept', k.kind, k.id, k.entity_id, null, null, k.later_id, k.later_at
            from chosen c cross join lateral plan_kept(c.space_id, c.events) k where c.events is not null
        )
        select s.name, p.action, coalesce(e.name, q.entity_name), p.kind, p.id,
            coalesce(o.content, r.relation_type || ' ' || other.name, f.content, c.path,
                proposal_text(q.content, q.relation_type, q.to_name),
                case when p.kind = 'document' then v.detail ->> 'path' end, n.name, case p.kind when 'split' then other.name end, p.former ->> 'entity_type',
                case when p.action = 'reset' and p.kind in ('entity', 'relation')
                    then (select string_agg(k, ', ' order by k) from jsonb_object_keys(p.former) k) end,
                case when p.action = 'lost'
                    then format('%s facts, %s relations', v.detail ->> 'facts', v.detail ->> 'relations') end),
            later.name, p.later_at
        from step p
        join space s on s.id = p.space_id
        left join entity e on e.space_id = p.space_id and e.id = p.entity_id
        left join fact o on o.space_id = p.space_id and o.id = p.id and p.kind = 'observation'
        left join relation r on r.space_id = p.space_id and r.id = p.id and p.kind = 'relation'
        left join reflection f on f.space_id = p.space_id and f.id = p.id and p.kind = 'reflection'
        left join document c on c.space_id = p.space_id and c.id = p.id and p.kind = 'document'
        -- The alias of a merge has the id of the merged entity.
        left join entity_alias n on n.space_id = p.space_id and n.id = p.id and p.kind in ('alias', 'merge')
        left join proposal q on q.space_id = p.space_id and q.id = p.id and p.kind = 'proposal'
            and q.space_id = any(reviewed_spaces(plan_undo.credential))
        left join entity other on other.space_id = p.space_id and other.id = case p.kind when 'split' then p.id else r.to_entity end
        left join event v on v.space_id = p.space_id and v.id = p.event_id
        left join actor later on later.id = p.later_id
        order by 1, 3, 2, 4, coalesce(o.created_at, r.created_at, f.created_at), 5;
end
$$;

comment on function textrawl.plan_undo is
    'Show row by row the changes that undo_author() would make now, and what stays, in one space or in all spaces that you '
    'administer. Errors: TR010, TR011 (access), TR030 (no such author). '
    'Example: select * from textrawl.plan_undo(''ana'', now() - interval ''2 hours'');';
