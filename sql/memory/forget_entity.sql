create function textrawl.forget_entity(
    entity text, fact text default null, dry_run boolean default false,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    planned text default null,  -- `plan` of a dry run: delete only if the same would go
    out entity_id uuid, out entity_name text, out observation_id uuid,
    out facts bigint, out relations bigint, out sample text[], out reflections bigint,
    out relation_id uuid, -- if `fact` names a relation
    out plan text,        -- which entity, fact or relation goes, and how much with it
    out documents text[]  -- readable documents of this name, each after its graph. They stay.
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin         origin := open_write(credential, space, case when dry_run then 'read' else 'forget' end, client, tool, request);
    in_undos       jsonb;
    relation_ids   uuid[] := '{}';
    removed_ids    uuid[];  -- facts and statements; a statement has the id of its relation
    reflection_ids uuid[] := '{}';
    keys           text[] := entity_keys(origin.space_id, entity);  -- of the name and the aliases
    aliases        text[];
begin
    if not dry_run then
        perform claim_removal();
        -- First lock the undos that keep rows of this entity, so that no session restores the entity meanwhile.
        perform from undo u
        where u.space_id = origin.space_id and u.id in (
            select d.undo_id from undone d where d.space_id = origin.space_id and d.names && keys)
        order by u.id for update;
    end if;
    entity_id := (claim_known(origin.space_id, array[entity]))[1];
    entity_name := (select e.name from entity e where e.space_id = origin.space_id and e.id = forget_entity.entity_id);
    keys := entity_keys(origin.space_id, entity);
    aliases := array(
        select a.name from entity_alias a
        where a.space_id = origin.space_id and a.entity_id = forget_entity.entity_id order by a.created_at, a.id);
    -- A fact that an undo removed can still be restored, so find and forget it too.
    if fact is not null and entity_id is not null then
        begin
            observation_id := find_fact(origin.space_id, entity_id, fact);
        exception when sqlstate 'TR001' then
            observation_id := (select id from find_undone(origin.space_id, forget_entity.entity, fact) limit 1);
            if observation_id is null then
                relation_ids := find_relations(origin.space_id, forget_entity.entity, fact);
                relation_id := relation_ids[1];
            end if;
            if observation_id is null and relation_id is null then
                raise;
            end if;
        end;
    end if;
    perform refuse_parts(origin.space_id, array[forget_entity.observation_id]);
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
    from fact o
    where o.space_id = origin.space_id and o.entity_id = forget_entity.entity_id
      and (forget_entity.fact is null or o.id = forget_entity.observation_id);
    if forget_entity.fact is null then
        relation_ids := array(
            select r.id from relation r
            where r.space_id = origin.space_id and forget_entity.entity_id in (r.from_entity, r.to_entity));
    end if;
    relations := cardinality(relation_ids);
    select facts + count(distinct value ->> 'id') filter (where value ->> 'kind' = 'observation'
               and not exists (select from observation o where o.space_id = origin.space_id and o.id = (value ->> 'id')::uuid)),
           relations + count(distinct value ->> 'id') filter (where value ->> 'kind' = 'relation'
               and not exists (select from relation r where r.space_id = origin.space_id and r.id = (value ->> 'id')::uuid))
    into facts, relations from jsonb_array_elements(in_undos);
    if relation_id is not null then
        sample := array(
            select distinct s.name || '→' || relation_label(coalesce(r.label, r.relation_type)) || '→' || t.name from relation r
            join entity s on s.space_id = r.space_id and s.id = r.from_entity
            join entity t on t.space_id = r.space_id and t.id = r.to_entity
            where r.space_id = origin.space_id and r.id = any(relation_ids));
        reflection_ids := array(
            select f.id from reflection f where f.space_id = origin.space_id and f.relation_id = any(relation_ids) order by f.id);
    end if;
    -- Collect the reflections about the entity or one of its relations, and all other reflections that contain the name
    -- or an alias of the entity.
    if forget_entity.fact is null then
        reflection_ids := array(
            select f.id from reflection f
            where f.space_id = origin.space_id and (
                f.entity_id = forget_entity.entity_id
                or f.relation_id = any(relation_ids)
                or exists (select from unnest(aliases || forget_entity.entity_name) n where names_entity(f.content, n)))
            order by f.id);
    end if;
    reflections := cardinality(reflection_ids);
    if forget_entity.fact is null then
        documents := array(
            select g.name || ': ' || s.label
            from readable_graphs(credential) g
            join entity e on e.space_id = g.space_id and e.name_key = any(keys)
            join document d on d.space_id = e.space_id and d.entity_id = e.id
            join source s on s.space_id = d.space_id and s.document_id = d.id and s.content_hash is not null
            where g.space_id <> origin.space_id order by 1 limit 20);
    end if;
    plan := concat_ws(' ', entity_id, coalesce(observation_id, relation_id), facts, relations, reflections);
    -- The entity is locked, so nobody adds a fact to it until the deletion ends.
    if planned <> plan then
        raise exception using errcode = 'TR076', message = 'the deletion would take something else than its plan', detail = entity;
    end if;
    if dry_run then
        return;
    end if;
    delete from undone u
    where u.space_id = origin.space_id and (
        u.names && keys
        and (fact is null or u.id = any(relation_ids)
             or u.id in (select (value ->> 'id')::uuid from jsonb_array_elements(in_undos)))
        or fact is null and u.kind = 'reflection'
            and exists (select from unnest(aliases || forget_entity.entity_name) n where names_entity(u.before ->> 'content', n)));
    perform from reflection f where f.space_id = origin.space_id and f.id = any(reflection_ids) order by f.id for update;
    delete from reflection f where f.space_id = origin.space_id and f.id = any(reflection_ids);
    removed_ids := array(
        select o.id from fact o
        where o.space_id = origin.space_id and o.entity_id = forget_entity.entity_id
          and (forget_entity.fact is null or o.id = forget_entity.observation_id
               -- A merge can have ended the same fact of the merged entity.
               or o.replaced_by = forget_entity.observation_id and exists (
                   select from merged m where m.space_id = o.space_id and m.id = o.id))) || relation_ids;
    perform forget_proposals(
        origin.space_id, forget_entity.entity_name,
        removed_ids || array(select (value ->> 'id')::uuid from jsonb_array_elements(in_undos)), forget_entity.fact is null);
    perform withdraw_words(origin.space_id, removed_ids);
    -- Lock the facts before cleaning the recall log. While the facts are locked, no session can add a recall of these
    -- facts to the log.
    perform claim_rows(origin.space_id, removed_ids, relation_ids);
    perform withdraw_queries(origin.space_id, removed_ids, n)
    from unnest(case when forget_entity.fact is null then aliases || forget_entity.entity_name else array[null] end) n;
    delete from dismissal d
    where d.space_id = origin.space_id
      and (d.one = any(removed_ids || forget_entity.entity_id) or d.other = any(removed_ids || forget_entity.entity_id))
      and (forget_entity.fact is null or d.kind <> 'same');
    delete from pin p where p.space_id = origin.space_id and p.fact_id = any(removed_ids);
    if forget_entity.fact is null then
        -- Lock these rows in one order. The cascade would lock them in two groups: by one end of the pair, then by the
        -- other end. Two such sessions could deadlock.
        perform from joint_use j
        where j.space_id = origin.space_id and forget_entity.entity_id in (j.one, j.other) order by j.one, j.other for update;
        delete from own_entity w
        where w.space_id = origin.space_id and (w.entity_id = forget_entity.entity_id or w.entity_id in (
            select a.id from entity_alias a where a.space_id = origin.space_id and a.entity_id = forget_entity.entity_id));
        delete from entity e where e.space_id = origin.space_id and e.id = forget_entity.entity_id;
    elsif relation_id is not null then
        update entity e set updated_at = clock_timestamp()
        from (select other.id from entity other
              where other.space_id = origin.space_id and other.id in (
                  select unnest(array[r.from_entity, r.to_entity]) from relation r
                  where r.space_id = origin.space_id and r.id = any(relation_ids))
              -- Skip an entity that another session has locked, because that session sets its updated_at.
              for no key update skip locked) ends
        where e.space_id = origin.space_id and e.id = ends.id;
        delete from relation r where r.space_id = origin.space_id and r.id = any(relation_ids);
    else
        delete from observation o where o.space_id = origin.space_id and o.id = any(removed_ids);
        update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = forget_entity.entity_id;
    end if;
    perform record_event('forgotten', entity_id, observation_id, relation_id, origin,
                         jsonb_build_object('facts', facts, 'relations', relations)
                         || case when reflections > 0 then jsonb_build_object('reflections', reflections) else '{}' end);
    if not may_read(credential, origin.space_id) then
        entity_name := entity; sample := null; documents := null;
    end if;
end
$$;

comment on function textrawl.forget_entity is
    'Delete an entity, or one of its facts or relations, and all that repeats its content: vectors, reflections, undo '
    'data and logged queries. The trail keeps ids and counts. A dry run needs only the scope read. Errors: TR001 or '
    'TR002 (no fact or several facts match), TR010 to TR012 (access), TR055 (the fact is a part of a journal entry), '
    'TR076 (`planned` is not the plan). '
    'Example: select * from textrawl.forget_entity(''Jeff'', dry_run => true);';
