create function textrawl.delete_items(
    namespace text[],
    key text default null,  -- null: the namespace and all namespaces below it, with their logs
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns bigint
language plpgsql volatile security definer
set search_path from current
as $$
declare
    origin origin := open_write(credential, space, 'forget', client, tool, request);
begin
    perform claim_removal();
    return end_items(array(
        select i.document_id from present_items(origin.space_id) i
        where i.labels collate "C" >= delete_items.namespace and i.labels collate "C" < namespace_end(delete_items.namespace)
          and case when delete_items.key is null then true
              else i.labels = delete_items.namespace and i.key = delete_items.key end), origin);
end
$$;

comment on function textrawl.delete_items is
    'Delete an item, or everything in and below a namespace, and return how many items and entries of logs were deleted. '
    'item_history() shows their values, and an undo brings them back, until prune_documents() deletes them. Errors: TR010 to '
    'TR012 (access). '
    'Example: select textrawl.delete_items(array[''users'', ''ada''], ''tea'');';
