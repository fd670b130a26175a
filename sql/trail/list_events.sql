create function textrawl.list_events(
    author text default null, entity text default null, doing text default null, since timestamptz default null,
    max_rows integer default 50, space integer default null, credential bytea default null
) returns table (
    cursor text,       -- transaction:id, see read_events()
    at timestamptz, space_name text, author_name text, client text, tool text, request text, action text,
    entity_name text,  -- of a document: its path; of a proposal: the entity that it names; null if the entity was removed
    entity_id uuid, observation_id uuid, relation_id uuid,
    other_name text    -- of a relation: the entity it leads to
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.administered_spaces(credential, list_events.space) as ids
    ), named_entity as (
        select f.space_id, f.entity_id as id from textrawl.find_entities((select ids from scope)::integer[], list_events.entity) f
        union
        select f.space_id, m.merged_id from textrawl.find_entities((select ids from scope)::integer[], list_events.entity) f
        join textrawl.merge m on m.space_id = f.space_id and m.kept_id = f.entity_id
        union
        select d.space_id, d.id from textrawl.undone d
        where d.space_id = any((select ids from scope)::integer[]) and d.kind = 'entity'
          and d.names @> array[textrawl.name_key(list_events.entity)]
    ), newest as (
        -- Read the events of each space from its newest one, and stop at the limit.
        select v.* from unnest((select ids from scope)::integer[]) space (id)
        cross join lateral (
            select v.* from textrawl.event v
            where v.space_id = space.id
              and (list_events.author is null or v.actor_id = (select a.id from textrawl.actor a where a.name = list_events.author))
              and (list_events.doing is null or v.action = list_events.doing)
              and (list_events.since is null or v.at >= list_events.since)
              and (list_events.entity is null
                   or lower(v.detail ->> 'path') = lower(list_events.entity)
                   or (v.space_id, v.entity_id) in (select space_id, id from named_entity)
                   or (v.space_id, (v.detail ->> 'to')::uuid) in (select space_id, id from named_entity))
            order by v.id desc limit max_rows) v
    )
    select v.transaction || ':' || v.id, v.at, s.name, a.name, v.client, v.tool, v.request, v.action,
        coalesce(e.name, v.detail ->> 'path', p.entity_name), v.entity_id, v.observation_id, v.relation_id, coalesce(o.name, p.to_name)
    from newest v
    join textrawl.space s on s.id = v.space_id
    join textrawl.actor a on a.id = v.actor_id
    left join textrawl.entity e on e.space_id = v.space_id and e.id = v.entity_id
    left join textrawl.entity o on o.space_id = v.space_id and v.relation_id is not null and o.id = (v.detail ->> 'to')::uuid
    left join textrawl.proposal p on p.space_id = v.space_id and p.id = (v.detail ->> 'proposal')::uuid
    order by v.id desc
    limit max_rows;
end;

comment on function textrawl.list_events is
    'The newest events of the trail. Events never contain the text of facts. Errors: TR010, TR011 (access). '
    'Example: select at, author_name, tool, action, entity_name from textrawl.list_events(author => ''ana'');';
