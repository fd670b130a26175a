create function textrawl.is_entry_part(
    space integer, whole uuid,
    sessions text[] default null  -- null: of any entry; else of an entry of one of these chats
) returns boolean
language sql stable parallel safe
begin atomic
    select whole is not null and exists (
        select from textrawl.journal_entry j
        where j.space_id = space and j.document_id = whole and (sessions is null or exists (
            select from textrawl.document d
            join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
            where d.space_id = j.space_id and d.id = j.document_id and v.attributes -> 'chat_ids' ?| sessions)));
end;

comment on function textrawl.is_entry_part is
    'True if a fact with this `whole` is a part of a journal entry, such as the words of a session that a hook captured. '
    'Example: select content from textrawl.observation o where textrawl.is_entry_part(o.space_id, o.whole);';
