create function textrawl.plan_undo(
    author text, since timestamptz, space integer default null, credential bytea default null, others boolean default false,
    run uuid default null  -- only what this import wrote
)
returns table (
    space_name text,
    action text,      -- the planned change of the row:
                      --   remove, drop entity, lost (it was forgotten, which cannot be undone)
                      --   hand over (new_author also stated it)
                      --   revive (it becomes valid again)
                      --   reset (source, confidence, end and said_at, the text of a document, or the decision of a
                      --   proposal), move back, retype
                      --   return (a move to another space had taken it away)
                      --   kept (a reflection of new_author, so its relation or entity is not removed; or a copy of a
                      --   move, because both spaces have to be undone together)
    entity_name text, kind text, id uuid, content text,
    new_author text   -- hand over: the next author of the row; kept: the author of the reflection
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
      select step.space_name, step.action, step.entity_name, step.kind, step.id, step.content, step.new_author from (
        select s.name as space_name, p.action, coalesce(e.name, q.entity_name) as entity_name, p.kind, p.id,
            coalesce(o.content, r.relation_type || ' ' || other.name, f.content, c.path,
                proposal_text(q.content, q.relation_type, q.to_name),
                case when p.kind = 'document' then v.detail ->> 'path' end, n.name, p.former ->> 'entity_type',
                case when p.action = 'reset' and p.kind in ('entity', 'relation')
                    then (select string_agg(k, ', ' order by k) from jsonb_object_keys(p.former) k) end,
                case when p.action = 'lost'
                    then format('%s facts, %s relations', v.detail ->> 'facts', v.detail ->> 'relations') end) as content,
            case when p.action = 'hand over' then a.name when reflecting.name <> plan_undo.author then reflecting.name end as new_author,
            coalesce(o.created_at, r.created_at, f.created_at) as created_at
        from unnest(spaces) target_space
        join space s on s.id = target_space
        cross join lateral plan_space_undo(target_space, events_to_undo(target_space, author_id, plan_undo.since, spaces, run), others) p
        left join entity e on e.space_id = target_space and e.id = p.entity_id
        left join fact o on o.space_id = target_space and o.id = p.id and p.kind = 'observation'
        left join relation r on r.space_id = target_space and r.id = p.id and p.kind = 'relation'
        left join reflection f on f.space_id = target_space and f.id = p.id and p.kind = 'reflection'
        left join document c on c.space_id = target_space and c.id = p.id and p.kind = 'document'
        -- The alias of a merge has the id of the merged entity.
        left join entity_alias n on n.space_id = target_space
            and n.id = case p.kind when 'alias' then p.id when 'merge' then (p.former ->> 'entity_id')::uuid end
        left join proposal q on q.space_id = target_space and q.id = p.id and p.kind = 'proposal'
            and q.space_id = any(reviewed_spaces(plan_undo.credential))
        left join actor reflecting on reflecting.id = f.author_id
        left join entity other on other.space_id = target_space and other.id = r.to_entity
        left join event v on v.space_id = target_space and v.id = p.event_id
        left join actor a on a.id = v.actor_id
        union all
        select s.name, m.action, m.entity_name, m.kind, m.id, m.content, null, null
        from unnest(spaces) target_space
        join space s on s.id = target_space
        cross join lateral plan_moves(target_space, author_id, plan_undo.since,
                                      events_to_undo(target_space, author_id, plan_undo.since, spaces, run)) m
        where run is null) step
      order by step.space_name, step.entity_name, step.action, step.kind, step.created_at, step.id;
end
$$;

comment on function textrawl.plan_undo is
    'Show row by row the changes that undo_author() would make now, in one space or in all spaces that you '
    'administer. Errors: TR010, TR011 (access), TR030 (no such author). '
    'Example: select * from textrawl.plan_undo(''ana'', now() - interval ''2 hours'');';
