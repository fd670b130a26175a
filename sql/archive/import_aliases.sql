create function textrawl.import_aliases(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- id of the alias in this memory
    outcome text    -- added, known (the entity has this name already), taken (another entity has it) or homeless (the
                    -- entity is missing)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    line record;
    key  text;
begin
    perform require_owner();
    perform register_actors(array(select g.author from jsonb_to_recordset(lines) g(author text)));
    -- Lock the entities in the order of names, like every writer.
    perform from entity e
    where (e.space_id, e.id) in (select g.space, g.entity from jsonb_to_recordset(lines) g(space integer, entity uuid))
    order by e.space_id, e.name_key for no key update;
    for line in
        select g.*, a.id as author_id from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, entity uuid, name text, author text, client text, tool text, request text,
            created_at timestamptz)
        join actor a on a.name = g.author order by g.place
    loop
        place := line.place;
        key := (select e.name_key from entity e where e.space_id = line.space and e.id = line.entity);
        stored := coalesce(find_alias(line.space, line.name), line.id);
        outcome := case when key is null then 'homeless' when entity_key(line.space, line.name) = key then 'known' else 'added' end;
        if outcome = 'added' then
            insert into entity_alias (space_id, id, entity_id, name, name_key, author_id, client, tool, request, created_at, removed_at)
            values (line.space, line.id, line.entity, line.name, name_key(line.name), line.author_id, line.client, line.tool,
                    line.request, line.created_at, now())
            -- An undo of an import can have taken the name from the entity.
            on conflict on constraint entity_alias_pkey do update set removed_at = now()
            where entity_alias.entity_id = excluded.entity_id and entity_alias.removed_at is not null
              and exists (select from event e
                          where e.space_id = line.space and e.detail ? 'alias' and e.detail ->> 'alias' = line.id::text
                            and e.action = 'named' and e.request like 'import %');
            if found and use_alias(line.space, line.id) then
                perform extend_documents(line.space, line.entity);
            else
                outcome := 'taken';
            end if;
        end if;
        return next;
    end loop;
end
$$;

comment on function textrawl.import_aliases is
    'Import the aliases of an export, after the entities. Error TR013: not the owner.';
