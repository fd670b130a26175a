create function textrawl.import_documents(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- id of the document in this memory
    outcome text    -- added, known (by id or by path), another (a document with another path has this id), homeless (its
                    -- entity is missing), or misplaced (a source in a space with facts, or another document in a graph)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    line  record;
    theirs text;
    labels text[];
    owner  uuid;
    place_in_log bigint;
begin
    perform require_owner();
    perform claim_removal();
    -- Lock the entities in the order of names, like every writer, and only then the clock.
    perform from entity e
    where (e.space_id, e.id) in (select g.space, g.entity from jsonb_to_recordset(lines) g(space integer, entity uuid))
    order by e.space_id, e.name_key for no key update;
    for line in
        select * from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, type text, path text, entity uuid, created_at timestamptz,
            granularity text, date text, instance text, slug text, source_kind text, label text,
            namespace jsonb, key text, "position" bigint, expires_at timestamptz)
        order by g.space, g.place
    loop
        place := line.place;
        stored := line.id;
        if line.type in ('item', 'log') then
            labels := array(select jsonb_array_elements_text(line.namespace));
            owner := claim_namespace(labels, line.space, appending => true);
            -- Entries of a log come behind those that the log has.
            place_in_log := case when line.type = 'log' then (
                select n.appended + 1 from item_namespace n where n.space_id = line.space and n.id = owner) end;
            line.path := item_path(labels, line.key, place_in_log);
        end if;
        theirs := (select d.kind || '/' || d.path from document d where d.space_id = line.space and d.id = line.id);
        if theirs like 'log/%' and line.type = 'log' then
            outcome := 'known';
        elsif theirs is not null then
            outcome := case when theirs = line.type || '/' || line.path then 'known' else 'another' end;
        elsif (line.type = 'source') <> exists (select from space s where s.id = line.space and s.tier is not null) then
            outcome := 'misplaced';
        elsif line.type in ('journal', 'source') and not exists (
            select from entity e where e.space_id = line.space and e.id = line.entity) then
            outcome := 'homeless';
        elsif line.type = 'journal' and line.path is distinct from
              (select k.path from journal_key(line.granularity, line.date, line.instance, line.slug) k) then
            raise exception using errcode = 'TR056', message = 'the path is not the one of the key', detail = line.path;
        else
            insert into document as d (space_id, id, kind, path, entity_id, changed, created_at)
            values (line.space, line.id, line.type, line.path, line.entity, next_change(line.space), line.created_at)
            on conflict (space_id, kind, path) do nothing;
            outcome := case when found then 'added' else 'known' end;
            stored := (select d.id from document d where d.space_id = line.space and d.kind = line.type and d.path = line.path);
        end if;
        if outcome = 'added' then
            delete from document_tombstone t where t.space_id = line.space and t.kind = line.type and t.path = line.path;
            if line.type = 'journal' then
                insert into journal_entry (space_id, document_id, granularity, date, period, instance_id, slug)
                values (line.space, line.id, line.granularity, line.date, journal_period(line.granularity, line.date),
                        line.instance, line.slug);
            elsif line.type = 'source' then
                insert into source (space_id, document_id, source_kind, label)
                values (line.space, line.id, line.source_kind, line.label);
            elsif line.type in ('item', 'log') then
                insert into item (space_id, document_id, namespace_id, key, position, expires_at)
                values (line.space, line.id, owner, line.key, place_in_log, line.expires_at);
                update item_namespace n set appended = place_in_log
                where n.space_id = line.space and n.id = owner and place_in_log is not null;
            end if;
        end if;
        return next;
    end loop;
end
$$;

comment on function textrawl.import_documents is
    'Import the identity files, journal entries, sources and items of an export, without their texts. Errors: TR013 (not the '
    'owner), TR103 (not a namespace).';
