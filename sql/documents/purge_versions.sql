create function textrawl.purge_versions(space integer, withdrawn bigint[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    touched uuid[];
    owners  uuid[];
begin
    perform from document_clock c where c.space_id = purge_versions.space for update;
    with gone as (
        delete from document_version v
        using event e, document d
        where e.space_id = purge_versions.space and e.id = any(withdrawn) and e.detail ? 'version'
          and v.space_id = purge_versions.space and v.document_id::text = e.detail ->> 'document'
          and v.version = (e.detail ->> 'version')::bigint
          and d.space_id = purge_versions.space and d.id = v.document_id and d.version is distinct from v.version
        returning v.document_id
    )
    select array_agg(distinct document_id) into touched from gone;
    delete from correction c
    where c.space_id = purge_versions.space
      and (c.event_id = any(withdrawn) or c.applied_at is null and c.document_id = any(touched));
    with gone as (
        delete from document d
        where d.space_id = purge_versions.space and d.id = any(touched)
          and not exists (select from document_version v where v.space_id = d.space_id and v.document_id = d.id)
        returning d.entity_id
    )
    select array_agg(entity_id) into owners from gone;
    perform drop_owners(purge_versions.space, owners);
end
$$;

comment on function textrawl.purge_versions is
    'Delete the versions of documents that withdrawn events stored, with the snapshots of these versions. Then delete '
    'the documents without a version, and their entities if these have nothing else. Also delete the corrections that '
    'these events applied, and those that nobody applied to the documents. Call claim_removal() first.';
