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
    origin         origin := open_write(credential, space, case when dry_run then 'read' else 'forget' end, client, tool, request);
    in_undos       jsonb;
    fact_ids       uuid[];
    reflection_ids uuid[] := '{}';
begin
    if not dry_run then
        perform claim_removal();
        -- Lock these undos first, so that nobody restores the entity meanwhile.
        perform from undo u
        where u.space_id = origin.space_id and u.id in (
            select d.undo_id from undone d where d.space_id = origin.space_id and d.names @> array[name_key(forget_entity.entity)])
        order by u.id for update;
    end if;
    select e.id, e.name into entity_id, entity_name from entity e
    where e.space_id = origin.space_id and e.name_key = name_key(forget_entity.entity) for update;
    -- A fact that an undo removed can be restored, so it has to be found and forgotten as well.
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
    select coalesce(jsonb_agg(u), '[]') into in_undos from find_undone(origin.space_id, forget_entity.entity, fact,
        case when fact is not null then (
            select content_hash from observation o where o.space_id = origin.space_id and o.id = forget_entity.observation_id) end) u;
    if entity_id is null then
        select value ->> 'entity_id', value ->> 'entity_name', case when fact is not null then value ->> 'id' end
        into entity_id, entity_name, observation_id
        from jsonb_array_elements(in_undos) where value ->> 'entity_name' is not null limit 1;
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
    into facts, relations from jsonb_array_elements(in_undos);
    -- Reflections about the entity or one of its relations, and reflections elsewhere that contain its name.
    if observation_id is null then
        reflection_ids := array(
            select f.id from reflection f
            where f.space_id = origin.space_id and (
                f.entity_id = forget_entity.entity_id
                or f.relation_id in (
                    select r.id from relation r
                    where r.space_id = origin.space_id and forget_entity.entity_id in (r.from_entity, r.to_entity))
                or names_entity(f.content, forget_entity.entity_name))
            order by f.id);
    end if;
    reflections := cardinality(reflection_ids);
    if dry_run then
        return;
    end if;
    delete from undone u
    where u.space_id = origin.space_id and (
        u.names @> array[name_key(forget_entity.entity)]
        and (fact is null or u.id in (select (value ->> 'id')::uuid from jsonb_array_elements(in_undos)))
        or fact is null and u.kind = 'reflection' and names_entity(u.before ->> 'content', forget_entity.entity_name));
    perform from reflection f where f.space_id = origin.space_id and f.id = any(reflection_ids) order by f.id for update;
    delete from reflection f where f.space_id = origin.space_id and f.id = any(reflection_ids);
    fact_ids := array(
        select o.id from observation o
        where o.space_id = origin.space_id and o.entity_id = forget_entity.entity_id
          and (forget_entity.observation_id is null or o.id = forget_entity.observation_id));
    perform withdraw_words(origin.space_id, fact_ids);
    -- Lock facts before the recall log: a recall of them that is being recorded is then complete and can be cleaned.
    perform claim_rows(origin.space_id, fact_ids, array(
        select r.id from relation r
        where r.space_id = origin.space_id and forget_entity.observation_id is null
          and forget_entity.entity_id in (r.from_entity, r.to_entity)));
    perform withdraw_queries(origin.space_id, fact_ids,
        case when forget_entity.observation_id is null then forget_entity.entity_name end);
    if observation_id is null then
        -- Lock in one order: the cascade would lock these rows by one end first and then by the other.
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
    'Delete an entity, or one of its facts, with everything that repeats it: relations, vectors, reflections, undo data and '
    'logged queries. The trail keeps ids and counts; a dry run needs only the scope read. Errors: TR001, TR002, TR010 to '
    'TR012 (access). '
    'Example: select * from textrawl.forget_entity(''Jeff'', dry_run => true);';
