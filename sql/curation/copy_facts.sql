create function textrawl.copy_facts(
    giver integer, facts uuid[], target_entity uuid, origin textrawl.origin,
    moving boolean,
    out shared bigint, out repeated bigint
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    target integer := origin.space_id;
    detail jsonb := case when moving then '{"move": true}' else '{}' end;
    last   bigint := coalesce((select max(o.ordinal) from observation o where o.space_id = target), 0);
    names  text := document_names(target, target_entity);
    plan   jsonb;
    copies jsonb;  -- {id in the source: id in the target}
begin
    select coalesce(jsonb_agg(to_jsonb(p)), '[]') into plan from plan_copies(giver, facts, target, target_entity) p;
    -- A copy has every other column of the fact. What it claims is read again, in the language of the target.
    insert into observation
    select copy.*
    from jsonb_to_recordset(plan) p (id uuid, place bigint, copy uuid, duplicate boolean)
    join observation o on o.space_id = giver and o.id = p.id
    join entity e on e.space_id = target and e.id = target_entity
    cross join lateral jsonb_populate_record(o, jsonb_build_object(
        'space_id', target, 'id', p.copy, 'entity_id', e.id, 'entity_type', e.entity_type, 'replaced_by', null, 'claim', null,
        'ordinal', last + p.place,
        'fts', search_document(target, (select space_language(target)), names, o.content, nullif(o.said_at, o.created_at)))) copy
    where not p.duplicate order by p.place;
    select count(*) filter (where not p.duplicate), count(*) filter (where p.duplicate),
        coalesce(jsonb_object_agg(p.id, p.copy), '{}')
    into shared, repeated, copies
    from jsonb_to_recordset(plan) p (id uuid, copy uuid, duplicate boolean);
    update observation o set replaced_by = (copies ->> former.replaced_by::text)::uuid
    from jsonb_to_recordset(plan) p (id uuid, copy uuid, duplicate boolean)
    join fact former on former.space_id = giver and former.id = p.id
    where o.space_id = target and o.id = p.copy and not p.duplicate and copies ? former.replaced_by::text;
    insert into revision
    select target, p.copy, v.reason, v.actor_id, v.client, v.tool, v.request, v.revised_at
    from jsonb_to_recordset(plan) p (id uuid, copy uuid, duplicate boolean)
    join revision v on v.space_id = giver and v.observation_id = p.id
    where not p.duplicate;
    perform copy_vectors(giver, target, array_agg(p.id), array_agg(p.copy))
    from jsonb_to_recordset(plan) p (id uuid, copy uuid, duplicate boolean) where not p.duplicate having count(*) > 0;
    perform record_event(case when p.duplicate then 'repeated' else 'shared' end, target_entity, p.copy, null, origin, detail)
    from jsonb_to_recordset(plan) p (place bigint, copy uuid, duplicate boolean) order by p.place;
    update entity e set updated_at = clock_timestamp() where e.space_id = target and e.id = target_entity and shared > 0;
end
$$;

comment on function textrawl.copy_facts is
    'Copy facts to an entity of another space, with their authors, origins, dates, revisions and vectors. The caller has '
    'locked the entity.';
