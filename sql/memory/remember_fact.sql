create function textrawl.remember_fact(
    entity text, type text, observation text,
    source text default null,
    confidence double precision default null,
    valid_until timestamptz default null,
    replaces text default null,
    model integer default null, embedding halfvec default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    said_at timestamptz default null, valid_from timestamptz default null,
    anchors text[] default null,  -- what the fact speaks of, as in observation
    out entity_id uuid, out entity_name text, out entity_type text,
    out observation_id uuid, out duplicate boolean, out updated boolean, out closest jsonb,
    out proposal_id uuid, -- if the caller can only propose; then no fact was stored
    out ended boolean,    -- the fact has ended already
    out placed_before uuid, -- the fact that `replaces` named, if the new fact begins before it and ends when it begins
    out closed jsonb,       -- the facts that this one ended: [{id, content, why}], see end_former_facts()
    out copies uuid[],      -- other facts that still say what was replaced, see value_copies()
    out same_name text,     -- if the entity has another type: a name for another thing, such as Jordan (person)
    out period text         -- the begin and the end that were read from the text, such as 2016/2021-03
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin  origin  := open_write(credential, space, 'write', client, tool, request, proposing => true);
    fact    jsonb   := jsonb_build_object('entity', entity, 'type', type, 'observation', observation, 'source', source,
        'confidence', confidence, 'valid_from', valid_from, 'valid_until', valid_until, 'said_at', said_at, 'anchors', anchors, 'replaces', replaces);
begin
    if must_propose(origin, array[source]) then
        entity_name := entity; entity_type := nearest_type(type); updated := false;
        select p.proposal_id, p.duplicate into proposal_id, duplicate
        from propose_one(jsonb_build_array(fact), '[]', model, embedding, origin, may_read(credential, origin.space_id)) p;
        return;
    end if;
    select s.entity_id, s.entity_name, s.entity_type, s.observation_id, s.duplicate, s.updated, s.closest, s.ended, s.placed_before, s.same_name, s.period
    into entity_id, entity_name, entity_type, observation_id, duplicate, updated, closest, ended, placed_before, same_name, period
    from store_fact(fact, model, embedding, origin) s;
    if not may_read(credential, origin.space_id) then
        entity_name := entity; entity_type := nearest_type(type); closest := null; same_name := null;
    elsif not duplicate then
        closed := (select jsonb_agg(one - 'fact') from jsonb_array_elements(end_former_facts(array[observation_id], origin)) one);
        closest := case when closed is null or not closed @> jsonb_build_array(jsonb_build_object('id', closest -> 'id')) then mark_external(origin.space_id, closest) end;
        copies := case when replaces is not null or closed is not null then value_copies(array[observation_id], origin) end;
    end if;
end
$$;

comment on function textrawl.remember_fact is
    'Store a fact about an entity. If a valid fact has the same text, update its source, confidence, end and said_at '
    'instead, unless it begins on another day. A caller that cannot read gets back only the name and type that it sent. The fact of a caller with '
    'propose instead of write, and an external fact where they are reviewed, becomes a proposal. Errors: TR001 or TR002 '
    '("replaces" matches no fact, or several facts), TR003 (the fact to replace is no longer valid), TR010 to TR012 '
    '(access), TR098 (the period ends before it begins). '
    'Example: select * from textrawl.remember_fact(''Jeff'', ''person'', ''prefers dark mode'');';
