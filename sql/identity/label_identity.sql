create function textrawl.label_identity(
    category text, filename text, label text, instance text default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out labelled boolean  -- false: there is no such file
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    path   text := identity_path(category, filename);
    former record;
    number bigint;
begin
    if label is null or label !~ '^[A-Za-z_][A-Za-z0-9_.-]*$' or char_length(label) > 100 then
        raise exception using errcode = 'TR093', message = 'not a prompt label', detail = left(label, 100);
    end if;
    perform claim_removal();
    number := next_change(origin.space_id);
    select d.id, d.content, d.attributes into former from current_documents(origin.space_id, 'identity', path) d;
    labelled := found;
    if not found and path in (select f.path from first_files(origin.space_id) f) then
        select c.id, '' as content, '{}'::jsonb as attributes into former from claim_document('identity', path, null, origin) c;
        labelled := true;
    end if;
    if labelled then
        -- A label is a part of a version, so undo, sync and export treat it as they treat the text.
        perform add_version(former.id, number, former.content, former.attributes || jsonb_build_object('label', label),
                            moment, instance, origin);
    end if;
end
$$;

comment on function textrawl.label_identity is
    'Set the prompt label of an identity file, which is the name of an XML tag. Errors: TR010 to TR012 (access), TR090 '
    '(not a filename), TR093 (not a label). '
    'Example: select labelled from textrawl.label_identity(''self'', ''my_wants.md'', ''wants'');';
