-- What somebody ended stays ended, also if the clock of the database goes back.

alter table relation add column closed_at timestamptz check (isfinite(closed_at));
comment on column relation.closed_at is 'The last end that was not in the future when it was set. If it equals valid_until, the relation has ended, whatever the clock says. Null: no such end was set.';
alter table observation add column closed_at timestamptz check (isfinite(closed_at));
comment on column observation.closed_at is 'The last end that was not in the future when it was set. If it equals valid_until, the fact has ended, whatever the clock says. A revision keeps it, so that an undo finds it again. Null: no such end was set.';

create or replace function state_relations() returns trigger
language plpgsql
set search_path from current
as $$
begin
    with stated as (
        insert into observation (space_id, id, entity_id, entity_type, content, content_hash, source, valid_from, valid_until,
                                 closed_at, relation_id, author_id, client, tool, request, created_at, fts)
        select r.space_id, r.id, r.from_entity, source.entity_type, text.content, fact_hash(text.content), 'conversation',
            r.valid_from, r.valid_until, r.closed_at, r.id, r.author_id, r.client, r.tool, r.request, r.created_at,
            search_document(r.space_id, space_language(r.space_id), document_names(r.space_id, r.from_entity, r.id), text.content)
        from added r
        -- `limit 1` makes the planner look up each entity by its key, however many relations are added.
        cross join lateral (
            select e.name, e.entity_type from entity e where e.space_id = r.space_id and e.id = r.from_entity limit 1) source
        cross join lateral (select e.name from entity e where e.space_id = r.space_id and e.id = r.to_entity limit 1) target
        cross join lateral (select statement_text(coalesce(r.label, r.relation_type), target.name) as content) text
        order by r.created_at, r.id
        returning space_id, id
    )
    insert into embedding_pending (space_id, observation_id, model_id)
    select s.space_id, s.id, m.id from stated s cross join embedding_model m;
    return null;
end
$$;

create or replace function update_statements() returns trigger
language plpgsql
set search_path from current
as $$
begin
    update observation o
    set valid_until = r.valid_until, closed_at = r.closed_at, author_id = r.author_id, client = r.client, tool = r.tool,
        request = r.request
    from changed r
    where o.space_id = r.space_id and o.relation_id = r.id
      and (o.valid_until, o.closed_at, o.author_id, o.client, o.tool, o.request)
          is distinct from (r.valid_until, r.closed_at, r.author_id, r.client, r.tool, r.request);
    return null;
end
$$;

-- Ends of earlier versions: an end that the clock has passed, and an end that somebody set without naming a time.
update relation r set closed_at = r.valid_until
where r.valid_until <= clock_timestamp()
   or r.valid_until is not null
      and exists (select from event e where e.space_id = r.space_id and e.relation_id = r.id and e.action = 'ended');
update observation o set closed_at = o.valid_until
where o.relation_id is null and o.valid_until is not null
  and (o.valid_until <= clock_timestamp() or o.replaced_by is not null
       or exists (select from event e
                  where e.space_id = o.space_id and e.observation_id = o.id and e.action in ('ended', 'faded')));

-- The dashboard and `textrawl stats` count the valid facts in this index, so it has the new column too.
drop index observation_growth_idx;
create index observation_growth_idx on observation (space_id, created_at)
    include (source, author_id, confidence, valid_until, closed_at, replaced_by, id)
    where relation_id is null and created_at >= '-infinity';
