create function textrawl.merged_record(space integer, entity uuid) returns jsonb
language sql stable
begin atomic
    select textrawl.node_record(space, entity) - 'aliases' || jsonb_build_object(
        'uses', (select coalesce(jsonb_agg(to_jsonb(u)), '[]') from textrawl.entity_use u
                 where u.space_id = space and u.entity_id = entity),
        'joint', (select coalesce(jsonb_agg(to_jsonb(j)), '[]') from textrawl.joint_use j
                  where j.space_id = space and entity in (j.one, j.other)));
end;

comment on function textrawl.merged_record is
    'What a merge does not move to the kept entity: the values of the node, their changes and the use of the entity.';
