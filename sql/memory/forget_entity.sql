create function textrawl.forget_entity(
    entity text, fact text default null, dry_run boolean default false,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out entity_id uuid, out entity_name text, out observation_id uuid,
    out facts bigint, out relations bigint, out sample text[], out reflections bigint
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, case when dry_run then 'read' else 'forget' end, client, tool, request);
    kept   jsonb;
    gone   uuid[];
    thoughts uuid[] := '{}';
begin
    if not dry_run then
        perform claim_removal();
        -- Nobody puts it back from an undo in the meantime.
        perform from undo u
        where u.space_id = origin.space_id and u.id in (
            select d.undo_id from undone d where d.space_id = origin.space_id and d.names @> array[name_key(forget_entity.entity)])
        order by u.id for update;
    end if;
    select e.id, e.name into entity_id, entity_name from entity e
    where e.space_id = origin.space_id and e.name_key = name_key(forget_entity.entity) for update;
    -- What an undo took out can come back, and would, if it were not forgotten with the rest.
    if fact is not null and entity_id is not null then
        begin
            observation_id := find_fact(origin.space_id, entity_id, fact);
        exception when sqlstate 'TR001' then
            observation_id := (select id from find_undone(origin.space_id, forget_entity.entity, fact) limit 1);
            if observation_id is null then
                raise;
            end if;
        end;
    end if;
    select coalesce(jsonb_agg(u), '[]') into kept from find_undone(origin.space_id, forget_entity.entity, fact,
        case when fact is not null then (
            select content_hash from observation o where o.space_id = origin.space_id and o.id = forget_entity.observation_id) end) u;
    if entity_id is null then
        select value ->> 'entity_id', value ->> 'entity_name', case when fact is not null then value ->> 'id' end
        into entity_id, entity_name, observation_id
        from jsonb_array_elements(kept) where value ->> 'entity_name' is not null limit 1;
    end if;
    if entity_id is null then
        return;
    end if;
    select count(*), (array_agg(content order by created_at desc, id))[1:3] into facts, sample
    from observation o
    where o.space_id = origin.space_id and o.entity_id = forget_entity.entity_id
      and (forget_entity.observation_id is null or o.id = forget_entity.observation_id);
    select count(*) into relations from relation r
    where r.space_id = origin.space_id and forget_entity.observation_id is null
      and forget_entity.entity_id in (r.from_entity, r.to_entity);
    select facts + count(distinct value ->> 'id') filter (where value ->> 'kind' = 'observation'
               and not exists (select from observation o where o.space_id = origin.space_id and o.id = (value ->> 'id')::uuid)),
           relations + count(distinct value ->> 'id') filter (where value ->> 'kind' = 'relation'
               and not exists (select from relation r where r.space_id = origin.space_id and r.id = (value ->> 'id')::uuid))
    into facts, relations from jsonb_array_elements(kept);
    -- Prose about the entity or one of its relations, and what names it elsewhere.
    if observation_id is null then
        thoughts := array(
            select f.id from reflection f
            where f.space_id = origin.space_id and (
                f.entity_id = forget_entity.entity_id
                or f.relation_id in (
                    select r.id from relation r
                    where r.space_id = origin.space_id and forget_entity.entity_id in (r.from_entity, r.to_entity))
                or names_entity(f.content, forget_entity.entity_name))
            order by f.id);
    end if;
    reflections := cardinality(thoughts);
    if dry_run then
        return;
    end if;
    delete from undone u
    where u.space_id = origin.space_id and (
        u.names @> array[name_key(forget_entity.entity)]
        and (fact is null or u.id in (select (value ->> 'id')::uuid from jsonb_array_elements(kept)))
        or fact is null and u.kind = 'reflection' and names_entity(u.before ->> 'content', forget_entity.entity_name));
    perform from reflection f where f.space_id = origin.space_id and f.id = any(thoughts) order by f.id for update;
    delete from reflection f where f.space_id = origin.space_id and f.id = any(thoughts);
    gone := array(
        select o.id from observation o
        where o.space_id = origin.space_id and o.entity_id = forget_entity.entity_id
          and (forget_entity.observation_id is null or o.id = forget_entity.observation_id));
    perform withdraw_words(origin.space_id, gone);
    -- Before what was asked: a recall of them that is being recorded is then there to be withdrawn.
    perform claim_rows(origin.space_id, gone, array(
        select r.id from relation r
        where r.space_id = origin.space_id and forget_entity.observation_id is null
          and forget_entity.entity_id in (r.from_entity, r.to_entity)));
    perform withdraw_queries(origin.space_id, gone,
        case when forget_entity.observation_id is null then forget_entity.entity_name end);
    if observation_id is null then
        -- The cascade would lock them by one end and then by the other.
        perform from joint_use j
        where j.space_id = origin.space_id and forget_entity.entity_id in (j.one, j.other) order by j.one, j.other for update;
        delete from entity e where e.space_id = origin.space_id and e.id = forget_entity.entity_id;
    else
        delete from observation o where o.space_id = origin.space_id and o.id = forget_entity.observation_id;
        update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = forget_entity.entity_id;
    end if;
    perform record_event('forgotten', entity_id, observation_id, null, origin,
                         jsonb_build_object('facts', facts, 'relations', relations)
                         || case when reflections > 0 then jsonb_build_object('reflections', reflections) else '{}' end);
    if not may_read(credential, origin.space_id) then
        entity_name := entity; sample := null;
    end if;
end
$$;

comment on function textrawl.forget_entity is
    'Deletes an entity with its facts, relations, vectors and pending work, and reflections about it or that name it, or one fact of it, also what an undo keeps of them and what the log of recalls has of them; the trail keeps ids and counts. No row when there is no such entity. A dry run needs the scope read alone; without that scope the answer holds what was sent, ids and counts. Errors: TR001, TR002, TR010 to TR012 (access). Example: select * from textrawl.forget_entity(''Jeff'', dry_run => true);';
