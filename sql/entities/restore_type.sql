create function textrawl.restore_type(record textrawl.merge) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space   integer := record.space_id;
    later   merge;
    wanted  jsonb   := record.former -> 'type';
    adopted boolean := record.former -> 'type' <> record.given -> 'type';
begin
    -- A later merge may have merged the entity that was kept. Its record has the type, and the entity that was kept then
    -- may have adopted the type in turn.
    for later in select m.* from merge m where m.space_id = space and record.id = any(m.merges) order by m.at loop
        if adopted and jsonb_build_array(
            later.entity -> 'entity_type', later.entity -> 'type_guessed', later.entity -> 'metadata') = record.given -> 'type' then
            update merge m set entity = m.entity || jsonb_build_object(
                'entity_type', wanted -> 0, 'type_guessed', wanted -> 1, 'metadata', wanted -> 2)
            where m.space_id = space and m.id = later.id;
        end if;
        wanted := later.former -> 'type';
        adopted := adopted and later.former -> 'type' <> later.given -> 'type';
    end loop;
    if adopted then
        update entity e
        set entity_type = wanted ->> 0, type_guessed = (wanted ->> 1)::boolean, metadata = wanted -> 2
        where e.space_id = space and e.id = record.kept_id
          and jsonb_build_array(e.entity_type, e.type_guessed, e.metadata) = record.given -> 'type';
        update observation o set entity_type = e.entity_type
        from entity e
        where e.space_id = space and e.id = record.kept_id and o.space_id = space and o.entity_id = e.id
          and o.entity_type <> e.entity_type;
    end if;
end
$$;

comment on function textrawl.restore_type is
    'Give the kept entity of a merge the type that it had before, unless somebody has changed it since.';
