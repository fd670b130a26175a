create function textrawl.import_versions(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,
    outcome text    -- added, known (the document has the same text of the same time), homeless (its document is missing)
                    -- or inexact (an exact text is the JSON of an item with at most 190 levels, and only items have one)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    line    record;
    change  bigint;
    subject record;
begin
    perform require_owner();
    perform register_actors(array(select g.author from jsonb_to_recordset(lines) g(author text)));
    perform claim_removal();
    -- Lock the entities in the order of names, like every writer, and only then the clock.
    perform from entity e
    where (e.space_id, e.id) in (
        select d.space_id, d.entity_id from jsonb_to_recordset(lines) g(space integer, document uuid)
        join document d on d.space_id = g.space and d.id = g.document)
    order by e.space_id, e.name_key for no key update;
    for line in
        select g.*, a.id as author_id
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, document uuid, number integer, text text, exact boolean, attributes jsonb, lost boolean,
            current boolean, modified_at timestamptz, modified_by text,
            author text, client text, tool text, request text, created_at timestamptz)
        join actor a on a.name = g.author
        order by g.space, g.place
    loop
        place := line.place;
        stored := version_key(line.created_at, line.text);
        if not exists (select from document d where d.space_id = line.space and d.id = line.document) then
            outcome := 'homeless';
        elsif exists (
            select from document_version v
            where v.space_id = line.space and v.document_id = line.document and v.created_at = line.created_at
              and v.content is not distinct from line.text) then
            outcome := 'known';
        elsif coalesce(line.exact, false) <> exists (
                  select from document d where d.space_id = line.space and d.id = line.document and d.kind in ('item', 'log'))
              or line.exact and (line.text is not json or is_nested_deeply(line.text)) then
            outcome := 'inexact';
        else
            outcome := 'added';
            perform check_source(d.path, s.label, line.text, line.attributes -> 'chunks', line.attributes ->> 'sha256')
            from document d join source s on s.space_id = d.space_id and s.document_id = d.id
            where d.space_id = line.space and d.id = line.document and line.text is not null;
            change := next_change(line.space);
            insert into document_version (space_id, document_id, version, number, content, attributes, lost, modified_at, modified_by,
                                          author_id, client, tool, request, created_at)
            select line.space, line.document, change, greatest(line.number, 1 + max(v.number)), line.text, line.attributes, line.lost,
                line.modified_at, line.modified_by, line.author_id, line.client, line.tool, line.request, line.created_at
            from document_version v where v.space_id = line.space and v.document_id = line.document;
            -- If the document has a text in this memory too, the text that was changed last becomes the current version.
            update document d set version = change, changed = change
            where d.space_id = line.space and d.id = line.document and line.current
              and not exists (
                  select from document_version v
                  where v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
                    and v.modified_at > line.modified_at);
            if found then
                select e.id, greatest(e.updated_at, line.created_at) as updated_at into subject
                from document d join entity e on e.space_id = d.space_id and e.id = d.entity_id
                where d.space_id = line.space and d.id = line.document;
                perform place_parts(line.document, row(line.space, line.author_id, line.client, line.tool, line.request, false)::origin);
                update entity e set updated_at = subject.updated_at where e.space_id = line.space and e.id = subject.id;
            end if;
        end if;
        return next;
    end loop;
end
$$;

comment on function textrawl.import_versions is
    'Import the texts of identity files, journal entries, sources and items, after their documents. The facts of a journal entry '
    'and the chunks of a source are made from its text. Errors: TR013 (not the owner), TR064, TR065 (the text or the chunks of a '
    'source have a wrong form).';
