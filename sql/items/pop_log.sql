create function textrawl.pop_log(
    namespace text[],
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (value json)
language plpgsql volatile security definer
set search_path from current
as $$
declare
    origin origin := open_write(credential, space, 'forget', client, tool, request);
    owner  uuid;
    taken  record;
begin
    perform claim_removal();
    owner := claim_namespace(namespace, origin.space_id, appending => true);
    -- A call that is repeated with its request id finds what it took.
    select v.content into taken
    from item i
    join document_version gone on gone.space_id = i.space_id and gone.document_id = i.document_id and gone.content is null
    join document_version v on v.space_id = i.space_id and v.document_id = i.document_id and v.number = gone.number - 1
    where i.space_id = origin.space_id and i.namespace_id = owner and not i.present
      and i.position > (select n.appended - 1000 from item_namespace n where n.space_id = origin.space_id and n.id = owner)
      and gone.tool = pop_log.tool and gone.request = pop_log.request and gone.author_id = origin.author_id
    limit 1;
    if found then
        value := taken.content;
        return next;
        return;
    end if;
    select i.document_id, i.content into taken from present_items(origin.space_id) i
    where i.namespace_id = owner and i.place is not null order by i.place desc limit 1;
    if found then
        perform end_items(array[taken.document_id], origin);
        value := taken.content;
        return next;
    end if;
end
$$;

comment on function textrawl.pop_log is
    'Delete the last entry of a log, and return its value. Nothing if the log is empty. The same request again takes nothing '
    'more, and returns the same value. Errors: TR010 to TR012 (access), '
    'TR103 (not a namespace). '
    'Example: select value from textrawl.pop_log(array[''sessions'', ''7'']);';
