create function textrawl.split_entity(
    merged text, dry_run boolean default false,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out merge_id uuid, out kept_id uuid, out kept_name text, out merged_id uuid, out merged_name text,
    out facts bigint, out relations bigint,  -- of the merged entity, with those written since the merge
    out later jsonb  -- facts that were written since the merge and go to or stay with an entity: [{id, content, entity}]
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, case when dry_run then 'read' else 'write' end, client, tool, request);
    record merge;
    ended  jsonb;  -- relations that the merge ended
    equals jsonb;  -- those that stay ended, because an equal relation is valid: [{id, twin, valid_until}]
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    kept_id := (claim_named(array[merged], origin))[1];
    select m.* into record from merge m
    where m.space_id = origin.space_id and m.kept_id = split_entity.kept_id
      and find_alias(origin.space_id, merged) = any(m.merged_id || m.aliases)
    order by m.merged_id = find_alias(origin.space_id, merged) desc, m.at desc limit 1;
    if record.id is null then
        raise exception using errcode = 'TR037', message = 'no such merge', detail = merged;
    end if;
    merge_id := record.id; merged_id := record.merged_id; merged_name := record.entity ->> 'name';
    kept_name := (select e.name from entity e where e.space_id = origin.space_id and e.id = kept_id);
    select coalesce(jsonb_agg(jsonb_build_object(
            'id', o.id, 'content', o.content, 'entity', case when l.id is null then kept_name else merged_name end)
        order by o.created_at, o.id), '[]')
    into later
    from fact o left join later_rows(origin.space_id, merge_id) l on l.kind = 'fact' and l.id = o.id
    where o.space_id = origin.space_id and o.entity_id = kept_id and o.created_at > record.at and o.id not in (select unnest(record.facts));
    facts := (select count(*) from fact o
              where o.space_id = origin.space_id and o.entity_id = kept_id and o.id = any(record.facts))
        + (select count(*) from jsonb_array_elements(later) l where l.value ->> 'entity' = merged_name);
    relations := (
        select count(distinct r.id) from (
            select unnest(record.sources || record.targets) as id
            union select l.id from later_rows(origin.space_id, merge_id) l where l.kind = 'relation') r
        join relation n on n.space_id = origin.space_id and n.id = r.id);
    if dry_run then
        return;
    end if;
    ended := (select jsonb_agg(to_jsonb(m)) from merged m
              where m.space_id = origin.space_id and m.merge_id = split_entity.merge_id and m.kind = 'relation');
    perform part_entities(merge_id, origin);
    select jsonb_agg(jsonb_build_object('id', r.id, 'twin', l.id, 'valid_until', m.valid_until)) into equals
    from jsonb_populate_recordset(null::merged, ended) m
    join relation r on r.space_id = m.space_id and r.id = m.id and r.valid_until = m.ended
    join relation l on l.space_id = r.space_id and l.valid_until is null
        and (l.from_entity, l.relation_type, l.to_entity) = (r.from_entity, r.relation_type, r.to_entity);
    perform record_event('split', kept_id, null, null, origin, jsonb_build_object(
        'merge', merge_id, 'merged', merged_id, 'at', record.at, 'facts', facts, 'relations', relations)
        || jsonb_strip_nulls(jsonb_build_object('equals', equals)));
end
$$;

comment on function textrawl.split_entity is
    'Split a merge again. Give the name or a former alias of the merged entity. Both entities are as they were before '
    'the merge. Facts and relations that were written since under a name of the merged entity go to it, and all others '
    'stay. Needs the scopes read and write, a dry run only read. Errors: TR010 to TR012 (access), TR037 (nothing was '
    'merged under this name), TR050 (no such entity). '
    'Example: select * from textrawl.split_entity(''Jeff Miller'');';
