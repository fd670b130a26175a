create function textrawl.part_entities(merge uuid, origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space   integer := origin.space_id;
    record  merge;
    later   uuid[];
    sources uuid[];
    targets uuid[];
    moved   uuid[];
begin
    select * into record from merge m where m.space_id = space and m.id = part_entities.merge for update;
    select coalesce(array_agg(l.id) filter (where l.kind = 'fact'), '{}'),
        coalesce(array_agg(l.id) filter (where l.kind = 'relation' and l.source), '{}'),
        coalesce(array_agg(l.id) filter (where l.kind = 'relation' and l.target), '{}')
    into later, sources, targets from later_rows(space, part_entities.merge) l;
    delete from entity_alias a where a.space_id = space and a.id = record.merged_id;
    perform from jsonb_populate_record(null::entity, record.entity) e
    cross join lateral insert_entity(e.space_id, e.name, e.name_key, e.entity_type, e.type_guessed,
                                     e.metadata, e.description, e.id, e.created_at, clock_timestamp());
    update entity_alias a set entity_id = record.merged_id
    where a.space_id = space and a.id = any(record.aliases) and a.entity_id = record.kept_id;
    update merge m set kept_id = record.merged_id
    where m.space_id = space and m.id = any(record.merges) and m.kept_id = record.kept_id;
    update reflection r set entity_id = record.merged_id
    where r.space_id = space and r.id = any(record.reflections) and r.entity_id = record.kept_id;
    perform claim_documents(space, array[record.kept_id]);
    -- Move first, then set the former ends, because a relation without an end must be unique.
    update relation r set from_entity = record.merged_id
    where r.space_id = space and r.id = any(record.sources || sources) and r.from_entity = record.kept_id;
    update relation r set to_entity = record.merged_id
    where r.space_id = space and r.id = any(record.targets || targets) and r.to_entity = record.kept_id;
    -- The statement of a later relation has the name of the kept entity. Keep its vector: only the name changes.
    update observation o set content = text.content, content_hash = fact_hash(text.content), claim = make_claim(text.content, space_language(space)::text)
    from relation r
    cross join lateral (
        select statement_text(coalesce(r.label, r.relation_type), record.entity ->> 'name') as content) text
    where r.space_id = space and r.to_entity = record.merged_id and o.space_id = space and o.id = r.id
      and (r.id = any(targets)
           -- A revert of an undo stores a relation with the name of the kept entity.
           or r.id = any(record.targets) and o.content = statement_text(coalesce(r.label, r.relation_type), (
               select e.name from entity e where e.space_id = space and e.id = record.kept_id)));
    update observation o set entity_id = record.merged_id, entity_type = record.entity ->> 'entity_type'
    where o.space_id = space and o.entity_id = record.kept_id
      and o.id = any(record.facts || later || record.sources || sources);
    -- Set an end back only if nobody has changed it since. A later merge can have ended a row that moves
    -- now, or a row whose twin moves now. Earlier merges into the merged entity stay as they are.
    moved := record.facts || later || record.sources || record.targets || sources || targets;
    update observation o set valid_until = m.valid_until, closed_at = null, replaced_by = null
    from merged m
    where m.space_id = space and m.kind = 'fact'
      and (m.merge_id = part_entities.merge or (m.id = any(moved) or m.twin = any(moved)) and m.merge_id <> all(record.merges))
      and o.space_id = space and o.id = m.id and o.valid_until = m.ended and (o.replaced_by = m.twin or o.replaced_by is null);
    update relation r set valid_until = ended.until, closed_at = null
    -- Merges can have ended several equal relations. Only one of them can be without an end.
    from (select distinct on (f.from_entity, f.relation_type, f.to_entity, case when m.valid_until is not null then f.id end)
              f.id, m.valid_until as until
          from merged m
          join relation f on f.space_id = space and f.id = m.id and f.valid_until = m.ended
          where m.space_id = space and m.kind = 'relation'
            and (m.merge_id = part_entities.merge or (m.id = any(moved) or m.twin = any(moved)) and m.merge_id <> all(record.merges))
            and not exists (
                select from relation l
                where l.space_id = space and l.from_entity = f.from_entity and l.relation_type = f.relation_type
                  and l.to_entity = f.to_entity and l.valid_until is null)
          order by f.from_entity, f.relation_type, f.to_entity, case when m.valid_until is not null then f.id end,
              m.merge_id <> part_entities.merge, f.created_at, f.id) ended
    where r.space_id = space and r.id = ended.id;
    -- A relation stays ended if an equal one is valid, until the merge that ended it is split.
    update merged m set twin = l.id
    from relation r
    join relation l on l.space_id = space and l.from_entity = r.from_entity and l.relation_type = r.relation_type
        and l.to_entity = r.to_entity and l.valid_until is null
    where m.space_id = space and m.kind = 'relation' and (m.id = any(moved) or m.twin = any(moved))
      and m.merge_id <> all(record.merges) and r.space_id = space and r.id = m.id and r.valid_until = m.ended;
    delete from merged m
    where m.space_id = space and (m.id = any(moved) or m.twin = any(moved)) and m.merge_id <> all(record.merges)
      and not exists (
          select from relation r join relation l on l.space_id = space and l.id = m.twin and l.valid_until is null
              and l.from_entity = r.from_entity and l.relation_type = r.relation_type and l.to_entity = r.to_entity
          where r.space_id = space and r.id = m.id and m.kind = 'relation' and r.valid_until = m.ended);
    perform restore_values(record);
    -- Rows of the merged entity that undos keep belong to it again.
    update undone u
    set before = u.before
            || case when u.id = any(record.facts) then jsonb_build_object('entity_id', record.merged_id) else '{}' end
            || case when u.id = any(record.sources) then jsonb_build_object('from_entity', record.merged_id) else '{}' end
            || case when u.id = any(record.targets) then jsonb_build_object('to_entity', record.merged_id) else '{}' end,
        names = u.names || (record.entity ->> 'name_key'), entities = u.entities || record.entity
    where u.space_id = space and u.action = 'remove' and u.kind in ('observation', 'relation')
      and u.id = any(record.facts || record.sources || record.targets);
    delete from merge m where m.space_id = space and m.id = part_entities.merge;
    perform renew_documents(space, array[record.kept_id, record.merged_id]);
end
$$;

comment on function textrawl.part_entities is
    'Split a merge: both entities are as they were, with what was written about them since. Lock the kept entity first.';
