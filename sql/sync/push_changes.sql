create function textrawl.push_changes(
    instance text,
    changes jsonb,  -- of an identity file: {category, filename, content, label}; of a journal entry: {granularity, date,
                    -- slug, instance, content, chat_ids, participants}; of both: modified_at. If content is null, the
                    -- document is deleted
    since bigint default null,         -- version that the instance knows
    instance_type text default 'other',
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out outcomes jsonb,       -- for each change {path, outcome, rival}: see push_change()
    out known_version bigint, -- version that the instance knows now: changes that it does not know have higher numbers
    out server_version bigint, out space_id integer
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin  origin := open_write(credential, space, 'write', client, tool, request);
    current bigint;
    change  jsonb;
    result  record;
    own     bigint[] := '{}';
begin
    space_id := origin.space_id;
    since := coalesce(since, 0);
    if exists (select from jsonb_array_elements(changes) c where c ->> 'content' is null) then
        perform open_write(credential, origin.space_id, 'forget', client, tool, request);
    end if;
    perform claim_removal();
    perform claim_owner(named.entity, origin)
    from (select distinct on (name_key(k.entity)) k.entity
          from jsonb_array_elements(changes) c cross join lateral document_key(c) k
          where k.entity is not null order by name_key(k.entity)) named;
    perform from document_clock c where c.space_id = origin.space_id for update;
    select c.version into current from document_clock c where c.space_id = origin.space_id;
    if since > coalesce(current, 0) then
        raise exception using errcode = 'TR059', message = 'the version is not of this memory', detail = since::text;
    end if;
    outcomes := '[]';
    for change in select c from jsonb_array_elements(changes) with ordinality list (c, place) order by place loop
        select p.* into result from push_change(change, instance, instance_type, since, origin, moment) p;
        outcomes := outcomes || jsonb_build_object('path', result.path, 'outcome', result.outcome, 'rival', result.rival);
        if result.outcome = 'stored' then
            own := own || result.change_number;
        end if;
    end loop;
    server_version := coalesce((select c.version from document_clock c where c.space_id = origin.space_id), 0);
    known_version := coalesce((
        select min(foreign_change.changed) - 1
        from (select d.changed from document d where d.space_id = origin.space_id
              union all
              select t.changed from document_tombstone t where t.space_id = origin.space_id) foreign_change
        where foreign_change.changed > since and foreign_change.changed <> all(own)), server_version);
end
$$;

comment on function textrawl.push_changes is
    'Store the changes that an instance made, in one transaction. If another instance changed a document after '
    '`since`, the later change becomes the current version. If both changes have the same time, instance_priority() '
    'decides. If the priorities are equal too, the pushed change becomes the current version. The other text is kept '
    'in document_version. A document without such a conflict takes the pushed text, even if its time is earlier. '
    'Errors: TR010 to TR012 (access), TR056 (wrong key of an entry), TR059 (`since` is not a version of this memory), '
    'TR057 and TR092 (a text is too long), TR090 (not a filename). '
    'Example: select outcomes from textrawl.push_changes(''laptop'', ''[{"category":"self","filename":"my_wants.md","content":"Tea."}]'');';
