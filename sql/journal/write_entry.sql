create function textrawl.write_entry(
    granularity text, date text, content text, instance text, slug text default null,
    chat_ids text[] default '{}',
    participants text[] default null,    -- null: the instance
    editor text default null,            -- who changes the text; null: the instance
    overwrite boolean default false,     -- true: replace a daily text too, and keep chat ids, participants and instance
    only_new boolean default false,      -- true: change nothing if the entry exists
    extracting boolean default false,       -- true: queue a changed text for extraction
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out document_id uuid, out space_id integer, out path text,
    out number integer,   -- of the current version
    out created boolean,
    out merged boolean,   -- false: the text replaced the former text, or there was none
    out changed boolean   -- false: the entry had the text already
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin     origin := open_write(credential, space, 'write', client, tool, request);
    entry      record;
    version    bigint;
    former     record;
    attributes jsonb;
begin
    select k.* into entry from journal_key(granularity, date, instance, slug) k;
    perform claim_removal();
    select c.id, c.version into document_id, version from claim_document('journal', entry.path, entry.entity, origin) c;
    insert into instance (space_id, id) values (origin.space_id, instance) on conflict do nothing;
    insert into journal_entry (space_id, document_id, granularity, date, period, instance_id, slug)
    values (origin.space_id, document_id, granularity, date, entry.period, instance, slug) on conflict do nothing;
    select d.content, d.attributes, d.number into former from current_documents(origin.space_id, 'journal', entry.path) d;
    space_id := origin.space_id; path := entry.path; number := former.number;
    created := former.content is null;
    merged := not created and granularity = 'daily' and not overwrite;
    changed := false;
    if only_new and not created then
        return;
    end if;
    content := case when merged then merge_entries(former.content, content) else content end;
    if coalesce(char_length(content), 0) not between 1 and 200000 then
        raise exception using errcode = 'TR057', message = 'the text has a wrong length', detail = coalesce(char_length(content), 0);
    end if;
    attributes := case when overwrite and not created then former.attributes else jsonb_build_object(
        'instance', case when merged then former.attributes ->> 'instance' else instance end,
        'chat_ids', union_of(case when merged then former.attributes -> 'chat_ids' end, chat_ids),
        'participants', union_of(case when merged then former.attributes -> 'participants' end,
                                 coalesce(participants, array[instance]))) end;
    if content is distinct from former.content or attributes is distinct from former.attributes then
        changed := true;
        number := add_version(document_id, version, content, attributes, clock_timestamp(), coalesce(editor, instance), origin);
        perform place_parts(document_id, origin);
        if extracting then
            perform queue_extraction(origin.space_id, document_id, version, content);
        end if;
    end if;
end
$$;

comment on function textrawl.write_entry is
    'Store a journal entry. A daily text is merged with the text that the instance already has for the day. Any other '
    'text replaces the former text, which stays in document_version. Sessions that write at the same time wait for each '
    'other. Errors: TR010 to TR012 (access), TR056 (wrong key), TR057 (no text, or more than 200,000 characters). '
    'Example: select path, number from textrawl.write_entry(''daily'', ''2026-05-12'', ''- I met Ben [chat:7]'', ''laptop'');';
