create function textrawl.join_entities(
    kept uuid, merged uuid, moment timestamptz, origin textrawl.origin
) returns uuid
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space    integer := origin.space_id;
    one      entity;
    other    entity;
    record   merge;
    words    tsvector;
begin
    select * into one from entity e where e.space_id = space and e.id = kept;
    select * into other from entity e where e.space_id = space and e.id = merged;
    record.space_id := space; record.id := gen_random_uuid(); record.kept_id := kept; record.merged_id := merged;
    -- Record what does not move to the kept entity: the values of the node, their changes and the use of the entity.
    record.entity := to_jsonb(other) - 'fts' || node_record(space, merged) - 'aliases' || jsonb_build_object(
        'uses', (select coalesce(jsonb_agg(to_jsonb(u)), '[]') from entity_use u where u.space_id = space and u.entity_id = merged),
        'joint', (select coalesce(jsonb_agg(to_jsonb(j)), '[]') from joint_use j where j.space_id = space and merged in (j.one, j.other)));
    record.facts := array(select o.id from fact o where o.space_id = space and o.entity_id = merged);
    record.sources := array(select r.id from relation r where r.space_id = space and r.from_entity = merged);
    record.targets := array(select r.id from relation r where r.space_id = space and r.to_entity = merged);
    record.reflections := array(select r.id from reflection r where r.space_id = space and r.entity_id = merged);
    record.aliases := array(select a.id from entity_alias a where a.space_id = space and a.entity_id = merged);
    record.merges := array(select m.id from merge m where m.space_id = space and m.kept_id = merged);
    record.former := entity_values(space, kept) || jsonb_build_object('repositories', lost_repositories(
        space, array[kept, merged], case when one.type_guessed and not other.type_guessed then other.entity_type else one.entity_type end));
    record.given := '{}';
    record.actor_id := origin.author_id; record.at := moment;
    insert into merge select record.*;
    insert into merged (space_id, merge_id, id, kind, twin, valid_until, ended)
    select space, record.id, c.id, c.kind, c.twin, c.valid_until, c.ended
    from collapsing_rows(space, kept, merged, moment) c;
    perform claim_documents(space, array[kept, merged]);

    update relation r
    set from_entity = case when r.from_entity = merged then kept else r.from_entity end,
        to_entity = case when r.to_entity = merged then kept else r.to_entity end,
        valid_until = coalesce(m.ended, r.valid_until), closed_at = coalesce(m.ended, r.closed_at)
    from relation f
    left join merged m on m.space_id = f.space_id and m.merge_id = record.id and m.id = f.id and m.kind = 'relation'
    where f.space_id = space and f.id = any(record.sources || record.targets) and r.space_id = f.space_id and r.id = f.id;
    update reflection r set entity_id = kept where r.space_id = space and r.entity_id = merged;
    update merge m set kept_id = kept where m.space_id = space and m.kept_id = merged;
    update entity_alias a set entity_id = kept where a.space_id = space and a.entity_id = merged;
    insert into entity_alias (space_id, id, entity_id, name, name_key, author_id, client, tool, request, created_at)
    values (space, merged, kept, other.name, other.name_key, origin.author_id, origin.client, origin.tool, origin.request, moment);
    perform adopt_values(space, one, other);
    -- First the facts of the kept entity, then those of the merged entity: each fact is changed once.
    perform extend_documents(space, kept);
    select * into one from entity e where e.space_id = space and e.id = kept;
    words := search_document(space, space_language(space), document_names(space, kept), '');
    update observation o
    set entity_id = kept, entity_type = one.entity_type, repository = fact_repository(one.entity_type, o.repository), fts = o.fts || words,
        valid_until = coalesce(m.ended, o.valid_until), closed_at = coalesce(m.ended, o.closed_at),
        replaced_by = coalesce(m.twin, o.replaced_by)
    from observation f
    left join merged m on m.space_id = f.space_id and m.merge_id = record.id and m.id = f.id and m.kind = 'fact'
    where f.space_id = space and f.entity_id = merged and o.space_id = f.space_id and o.id = f.id;
    delete from entity e where e.space_id = space and e.id = merged;
    update merge m set given = entity_values(space, kept) where m.space_id = space and m.id = record.id;
    perform record_event('merged', kept, null, null, origin, jsonb_build_object(
        'merge', record.id, 'merged', merged, 'at', moment, 'facts', cardinality(record.facts),
        'relations', (select count(distinct r) from unnest(record.sources || record.targets) r)));
    return record.id;
end
$$;

comment on function textrawl.join_entities is
    'Merge an entity into another one and return the id of the merge: move everything of it, make its name an alias, and '
    'delete it. The tables merge and merged keep what part_entities() needs. Lock both entities first.';
