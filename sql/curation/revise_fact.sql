create function textrawl.revise_fact(
    entity text, fact text,
    reason text,                  -- why the fact was wrong
    successor text default null,  -- the text that is right; null if the fact was only wrong
    model integer default null, embedding halfvec default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    anchors text[] default null,  -- what the successor speaks of
    out entity_id uuid, out entity_name text,
    out observation_id uuid, out content text,  -- the wrong fact; null if the caller cannot read the space
    out successor_id uuid,
    out duplicate boolean,  -- the successor is a valid fact already
    out repeated boolean    -- the same call came before
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    wrong  observation;
begin
    repeated := false;
    if not coalesce(char_length(reason) between 1 and 500, false) then
        raise exception using errcode = 'TR019', message = 'a revision needs a reason', detail = 'reason';
    end if;
    entity_id := (claim_named(array[entity], origin))[1];
    entity_name := (select e.name from entity e where e.space_id = origin.space_id and e.id = entity_id);
    observation_id := find_fact(origin.space_id, entity_id, fact);
    perform refuse_parts(origin.space_id, array[observation_id]);
    select * into wrong from observation o where o.space_id = origin.space_id and o.id = observation_id for no key update;
    content := wrong.content;
    if exists (select from revision r where r.space_id = origin.space_id and r.observation_id = wrong.id) then
        successor_id := repeat_revision(wrong, reason, successor, origin);
        repeated := true; duplicate := successor_id is not null;
    else
        if successor = wrong.content then
            raise exception using errcode = 'TR019', message = 'the successor repeats the fact', detail = 'successor';
        end if;
        insert into revision (space_id, observation_id, reason, actor_id, client, tool, request)
        values (origin.space_id, wrong.id, reason, origin.author_id, origin.client, origin.tool, origin.request);
        update observation o set valid_until = o.valid_from, replaced_by = null
        where o.space_id = origin.space_id and o.id = wrong.id;
        if successor is not null then
            select s.id, s.duplicate into successor_id, duplicate
            from store_successor(wrong, successor, model, embedding, anchors, origin) s;
        end if;
        update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = entity_id;
        perform record_event('revised', entity_id, coalesce(successor_id, wrong.id), null, origin,
            jsonb_build_object('replaced', wrong.id, 'until', wrong.valid_until, 'by', wrong.replaced_by));
    end if;
    if not may_read(credential, origin.space_id) then
        entity_name := entity; content := null;
    end if;
end
$$;

comment on function textrawl.revise_fact is
    'Mark a fact as wrong, say why, and optionally store the fact that is right. The wrong fact is then valid at no '
    'time, and its successor gets the times of the wrong fact. For a fact that was right and is no longer so, use '
    '"replaces" of remember_fact(). Errors: TR001 or TR002 (no fact or several facts match), TR010 to TR012 (access), '
    'TR018 (already revised), TR019 (no reason, or the successor has the same text), TR050 (no such entity), TR055 '
    '(the fact is a part of a journal entry). '
    'Example: select * from textrawl.revise_fact(''Jeff'', ''lives in Oslo'', ''he said Bergen'', ''lives in Bergen'');';
