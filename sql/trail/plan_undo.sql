create function textrawl.plan_undo(
    author text, since timestamptz, space integer default null, credential bytea default null, others boolean default false
)
returns table (space_name text, action text, entity_name text, kind text, id uuid, content text, new_author text)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces    integer[] := administered_spaces(credential, plan_undo.space);
    author_id integer := find_author(plan_undo.author);
begin
    return query
        select s.name, p.action, e.name, p.kind, p.id,
            coalesce(o.content, r.relation_type || ' ' || other.name, f.content, p.former ->> 'entity_type',
                case when p.action = 'lost' then format('%s facts, %s relations', v.detail ->> 'facts', v.detail ->> 'relations') end),
            case when p.action = 'hand over' then a.name when thinker.name <> plan_undo.author then thinker.name end
        from unnest(spaces) place
        join space s on s.id = place
        cross join lateral plan_space_undo(place, events_to_undo(place, author_id, plan_undo.since), others) p
        left join entity e on e.space_id = place and e.id = p.entity_id
        left join observation o on o.space_id = place and o.id = p.id and p.kind = 'observation'
        left join relation r on r.space_id = place and r.id = p.id and p.kind = 'relation'
        left join reflection f on f.space_id = place and f.id = p.id and p.kind = 'reflection'
        left join actor thinker on thinker.id = f.author_id
        left join entity other on other.space_id = place and other.id = r.to_entity
        left join event v on v.space_id = place and v.id = p.event_id
        left join actor a on a.id = v.actor_id
        order by s.name, e.name, p.action, p.kind, coalesce(o.created_at, r.created_at, f.created_at), p.id;
end
$$;

comment on function textrawl.plan_undo is
    'What undo_author would do now, row by row: remove, hand over (to new_author), revive, reset (source, confidence and end are what they were), move back, retype, drop entity, lost (was forgotten), kept (a reflection of new_author, which keeps its relation or entity; with others it goes too). In one space, or all that may be administered. Errors: TR010, TR011 (access), TR030 no such author. Example: select * from textrawl.plan_undo(''ana'', now() - interval ''2 hours'');';
