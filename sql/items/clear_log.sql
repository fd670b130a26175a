create function textrawl.clear_log(
    namespace text[],
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns bigint
language plpgsql volatile security definer
set search_path from current
as $$
declare
    origin origin := open_write(credential, space, 'forget', client, tool, request);
    owner  uuid;
begin
    perform claim_removal();
    owner := claim_namespace(namespace, origin.space_id, appending => true);
    return end_items(array(
        select i.document_id from item i
        where i.space_id = origin.space_id and i.namespace_id = owner and i.position is not null and i.present), origin);
end
$$;

comment on function textrawl.clear_log is
    'Delete all entries of a log, and return their number. An undo brings them back until prune_documents() deletes them. '
    'Errors: TR010 to TR012 (access), TR103 (not a namespace). '
    'Example: select textrawl.clear_log(array[''sessions'', ''7'']);';
