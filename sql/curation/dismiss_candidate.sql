create function textrawl.dismiss_candidate(
    kind text,  -- same (two entities are not one), close (two facts may both stay) or stale (a fact is still true)
    one uuid, other uuid default null,  -- ids of the entities or facts; stale has only one
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out dismissed boolean  -- false if somebody had dismissed it before
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    chosen uuid[] := array[dismiss_candidate.one, coalesce(dismiss_candidate.other, dismiss_candidate.one)];
    owners uuid[];
    made   uuid;
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    owners := case when dismiss_candidate.kind = 'same'
        then array(select e.id from entity e where e.space_id = origin.space_id and e.id = any(chosen))
        else array(select distinct o.entity_id from fact o where o.space_id = origin.space_id and o.id = any(chosen)
                   and (select count(*) from fact f where f.space_id = o.space_id and f.id = any(chosen))
                       = (select count(distinct c) from unnest(chosen) c)) end;
    if cardinality(owners) <> (case dismiss_candidate.kind when 'same' then 2 when 'close' then 1 when 'stale' then 1 else -1 end)
       or (dismiss_candidate.kind = 'stale') <> (chosen[1] = chosen[2]) then
        raise exception using errcode = 'TR113', message = 'no such candidate', detail = dismiss_candidate.kind;
    end if;
    -- A deletion of the entity waits, and then deletes this row too.
    perform from entity e where e.space_id = origin.space_id and e.id = any(owners) order by e.name_key for no key update;
    insert into dismissal (space_id, kind, one, other, author_id, client, tool, request)
    values (origin.space_id, dismiss_candidate.kind, least(chosen[1], chosen[2]), greatest(chosen[1], chosen[2]),
            origin.author_id, origin.client, origin.tool, origin.request)
    on conflict do nothing returning id into made;
    dismissed := made is not null;
    if dismissed then
        perform record_event('dismissed', owners[1], case when dismiss_candidate.kind <> 'same' then chosen[1] end, null, origin,
            jsonb_build_object('dismissal', made, 'kind', dismiss_candidate.kind));
    end if;
end
$$;

comment on function textrawl.dismiss_candidate is
    'Decide that two entities are not the same, that two facts do not contradict or repeat each other, or that a fact is '
    'still true. find_same_entities(), conflicting_facts(), near_facts() and memory_stale then leave the candidate out, '
    'until an undo. Needs the scopes read and write. Errors: TR010 to TR012 (access), TR113 (no such entities or facts). '
    'Example: select textrawl.dismiss_candidate(''stale'', id) from textrawl.memory_stale limit 1;';
