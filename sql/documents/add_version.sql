create function textrawl.add_version(
    document uuid, version bigint, content text, attributes jsonb, modified_at timestamptz, modified_by text,
    origin textrawl.origin, lost boolean default false
) returns integer
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    -- If no attributes are given, keep those of the current version, such as the prompt label.
    given       jsonb := coalesce(attributes, (
        select v.attributes from document d
        join document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
        where d.space_id = origin.space_id and d.id = document), '{}');
    next_number integer := 1 + coalesce((
        select max(v.number) from document_version v where v.space_id = origin.space_id and v.document_id = document), 0);
begin
    insert into document_version (space_id, document_id, version, number, content, attributes, lost, modified_at, modified_by,
                                  author_id, client, tool, request)
    values (origin.space_id, document, version, next_number, content, given, lost,
            -- An instance whose clock is fast must not win all later conflicts.
            least(modified_at, clock_timestamp()), modified_by, origin.author_id, origin.client, origin.tool, origin.request);
    update document d
    set changed = version, version = case when lost then d.version else add_version.version end
    where d.space_id = origin.space_id and d.id = document;
    perform record_event(
        case when lost then 'outvoted' when content is null then 'deleted' else 'written' end, null, null, null, origin,
        (select jsonb_build_object('document', d.id, 'version', version, 'kind', d.kind, 'path', d.path)
         from document d where d.space_id = origin.space_id and d.id = document));
    return next_number;
end
$$;

comment on function textrawl.add_version is
    'Store a version of a document and return the number of the version. The version becomes the current one, unless '
    '`lost` is true. The caller took `version` from next_change().';
