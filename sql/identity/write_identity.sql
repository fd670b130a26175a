create function textrawl.write_identity(
    category text, filename text, content text,
    placement text default 'replace',  -- replace, append or prepend
    snapshot boolean default true,     -- if `placement` is replace: keep the replaced text as a snapshot
    known bigint default null,         -- version from which the new text was made; 0: none; null: any
    instance text default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out version bigint, out created boolean,
    out snapshot_id text  -- null: no snapshot was taken
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin  origin := open_write(credential, space, 'write', client, tool, request);
    path    text := identity_path(category, filename);
    former  document_version;
    written text := write_identity.content;
    owner   uuid;
begin
    perform claim_removal();
    select c.id, c.version into owner, version from claim_document('identity', path, null, origin) c;
    select v.* into former
    from document d
    join document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where d.space_id = origin.space_id and d.id = owner;
    created := former.content is null;
    if known is not null and known <> (case when created then 0 else former.version end) then
        raise exception using errcode = 'TR091', message = 'the file was changed meanwhile', detail = path;
    end if;
    if placement = 'replace' and snapshot then
        snapshot_id := keep_snapshot(owner, 'pre-replace', instance, false, moment, origin);
    elsif placement <> 'replace' then
        written := joined_text(former.content, written, placement);
    end if;
    if char_length(written) > 1000000 then
        raise exception using errcode = 'TR092', message = 'the text is too long', detail = path;
    end if;
    perform add_version(owner, version, written, null, moment, instance, origin);
end
$$;

comment on function textrawl.write_identity is
    'Replace the text of an identity file, or add to the text. If `snapshot` is true, a replaced text is kept as a '
    'snapshot. Errors: TR010 to TR012 (access), TR090 (not a filename), TR091 (the current version is not `known`), TR092 '
    '(more than 1,000,000 characters). '
    'Example: select version from textrawl.write_identity(''self'', ''my_wants.md'', ''To learn Latvian.'');';
