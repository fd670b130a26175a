create function textrawl.forget_entity(
    entity text, fact text default null, dry_run boolean default false,
    space integer default textrawl.default_space(),
    author integer default textrawl.register_actor(),
    client text default null, tool text default 'sql',
    out entity_id uuid, out entity_name text, out observation_id uuid,
    out facts bigint, out relations bigint, out sample text[]
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    select e.id, e.name into entity_id, entity_name from entity e
    where e.space_id = space and e.name_key = name_key(forget_entity.entity) for update;
    if entity_id is null then
        return;
    end if;
    if fact is not null then
        observation_id := find_fact(space, entity_id, fact);
    end if;
    select count(*), (array_agg(content order by created_at desc, id))[1:3] into facts, sample
    from observation o
    where o.space_id = space and o.entity_id = forget_entity.entity_id
      and (forget_entity.observation_id is null or o.id = forget_entity.observation_id);
    select count(*) into relations from relation r
    where r.space_id = space and forget_entity.observation_id is null
      and forget_entity.entity_id in (r.from_entity, r.to_entity);
    if dry_run then
        return;
    end if;
    -- Words that stand in no other fact are content as well; search would keep them until it counts anew.
    delete from lexeme l using (
        select word, count(*) as frequency from observation o, unnest(tsvector_to_array(o.fts)) as word
        where o.space_id = space and o.entity_id = forget_entity.entity_id
          and (forget_entity.observation_id is null or o.id = forget_entity.observation_id)
        group by word) gone
    where l.word = gone.word and l.frequency <= gone.frequency;
    if observation_id is null then
        delete from entity e where e.space_id = space and e.id = forget_entity.entity_id;
    else
        delete from observation o where o.space_id = space and o.id = forget_entity.observation_id;
        update entity e set updated_at = clock_timestamp() where e.space_id = space and e.id = forget_entity.entity_id;
    end if;
    perform record_event('forgotten', entity_id, observation_id, null, space, author, client, tool,
                         jsonb_build_object('facts', facts, 'relations', relations));
end
$$;

comment on function textrawl.forget_entity is
    'Deletes an entity with its facts, relations, vectors and pending work, or one fact of it; the trail keeps ids and counts. No row when there is no such entity. Errors: TR001, TR002. Example: select * from textrawl.forget_entity(''Jeff'', dry_run => true);';
