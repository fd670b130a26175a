create function textrawl.prune_items(space integer, bound timestamptz, moment timestamptz) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    empty uuid[];
begin
    -- Not all of very many at once, because a call has a time limit. The next call takes others.
    delete from document d
    using (select i.document_id from item i
           where i.space_id = prune_items.space and i.expires_at < prune_items.moment limit 20000) gone
    where d.space_id = prune_items.space and d.id = gone.document_id
      and exists (select from item i where i.space_id = d.space_id and i.document_id = d.id and i.expires_at < prune_items.moment);
    delete from document d
    using (select i.document_id
           from item i
           join document owner on owner.space_id = i.space_id and owner.id = i.document_id
           join document_version v on v.space_id = i.space_id and v.document_id = i.document_id and v.version = owner.version
           where i.space_id = prune_items.space and not i.present and v.created_at < bound
             -- An undo can be reverted until somebody purges it.
             and not exists (
                 select from undo u join event e on e.space_id = u.space_id and e.id = any(u.events)
                 where u.space_id = prune_items.space and u.reverted_at is null and u.purged_at is null
                   and e.detail ->> 'document' = i.document_id::text)
           limit 20000) gone
    where d.space_id = prune_items.space and d.id = gone.document_id
      and not exists (select from item i where i.space_id = d.space_id and i.document_id = d.id and i.present);
    -- Lock them first: another session can just store something there.
    empty := array(
        select n.id from item_namespace n
        where n.space_id = prune_items.space
          and not exists (select from item i where i.space_id = n.space_id and i.namespace_id = n.id)
        for update skip locked);
    delete from item_namespace n
    where n.space_id = prune_items.space and n.id = any(empty)
      and not exists (select from item i where i.space_id = n.space_id and i.namespace_id = n.id);
end
$$;

comment on function textrawl.prune_items is
    'Delete the items of a space that have expired, items and entries of logs that were deleted before an instant and that no undo needs, '
    'and namespaces in which nothing is left. prune_documents() calls this after it has checked the rights.';
