create function textrawl.prune_documents(
    days integer default 30, credential bytea default null, space integer default null,
    moment timestamptz default clock_timestamp()
) returns table (snapshots bigint, versions bigint)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    bound  timestamptz := moment - make_interval(days => greatest(days, 0));
    spaces integer[] := array(
        select r.space_id from access_rights(credential) r
        where 'forget' = any(r.scopes) and (prune_documents.space is null or r.space_id = prune_documents.space)
        order by r.space_id);
    home   integer;
    gone   bigint;
begin
    snapshots := 0;
    versions := 0;
    perform claim_removal();
    foreach home in array spaces loop
        perform from document_clock c where c.space_id = home for update;
        delete from identity_snapshot s where s.space_id = home and not s.pinned and s.created_at < bound;
        get diagnostics gone = row_count;
        snapshots := snapshots + gone;
        delete from document_version v
        using document d
        where v.space_id = home and d.space_id = home and d.id = v.document_id and d.version is distinct from v.version
          and not exists (select from identity_snapshot s
                          where s.space_id = home and s.document_id = v.document_id and s.version = v.version)
          and case when v.lost then v.created_at < bound else exists (
              select from document_version later
              where later.space_id = home and later.document_id = v.document_id and not later.lost
                and later.version > v.version and later.created_at < bound) end
          -- An undo can be reverted until somebody purges it.
          and not exists (
              select from undo u join event e on e.space_id = home and e.id = any(u.events)
              where u.space_id = home and u.reverted_at is null and u.purged_at is null
                and e.detail ->> 'document' = v.document_id::text and (e.detail ->> 'version')::bigint = v.version);
        get diagnostics gone = row_count;
        versions := versions + gone;
        perform prune_items(home, bound, moment);
    end loop;
    return next;
end
$$;

comment on function textrawl.prune_documents is
    'Delete snapshots that are older than `days` days and not pinned. Also delete the versions of documents that were '
    'replaced, or lost a conflict, more than `days` days ago, except versions that a snapshot or an undo needs, and items that have expired. This '
    'happens in every space in which the caller has the scope forget. Return the numbers of deleted snapshots and '
    'versions. Servers call this function every hour. '
    'Example: select * from textrawl.prune_documents(30);';
