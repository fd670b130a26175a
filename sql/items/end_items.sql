create function textrawl.end_items(documents uuid[], origin textrawl.origin) returns bigint
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    ended bigint;
begin
    perform from document d where d.space_id = origin.space_id and d.id = any(documents) order by d.id for update;
    -- Another session can have deleted some of them meanwhile.
    with last as materialized (
        select d.id, d.kind, d.path, max(v.version) + 1 as version, max(v.number) + 1 as number
        from document d
        join item i on i.space_id = d.space_id and i.document_id = d.id and i.present
        join document_version v on v.space_id = d.space_id and v.document_id = d.id
        where d.space_id = origin.space_id and d.id = any(documents)
        group by d.id, d.kind, d.path
    ), version as (
        insert into document_version (space_id, document_id, version, number, modified_at, author_id, client, tool, request)
        select origin.space_id, last.id, last.version, last.number, clock_timestamp(), origin.author_id, origin.client, origin.tool,
            origin.request
        from last
    ), current as (
        update document d set version = last.version from last where d.space_id = origin.space_id and d.id = last.id
    ), place as (
        update item i set present = false, expires_at = null, fields = null, fts = null
        from last where i.space_id = origin.space_id and i.document_id = last.id
    ), vector as (
        delete from item_vector v using last where v.space_id = origin.space_id and v.document_id = last.id
    )
    insert into event (space_id, actor_id, client, tool, request, action, detail)
    select origin.space_id, origin.author_id, origin.client, origin.tool, origin.request, 'deleted',
        jsonb_build_object('document', last.id, 'version', last.version, 'kind', last.kind, 'path', last.path)
    from last order by last.path;
    get diagnostics ended = row_count;
    return ended;
end
$$;

comment on function textrawl.end_items is
    'Delete items or entries of logs, and return how many were there. Their values stay in document_version, for undo and '
    'item_history(). Call claim_removal() first.';
