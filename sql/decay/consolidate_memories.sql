create function textrawl.consolidate_memories(
    memories uuid[], content jsonb,  -- the merged text, or the list of its parts
    cohesion double precision default 1,
    entity text default null,        -- the new memory belongs to it; null: to the entity Memories
    model integer default null, embeddings halfvec[] default null,  -- one vector for each part
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out memory_id uuid  -- null: a memory of the list is no longer active, and nothing was changed
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    merged record;
    fact   record;
    parts  uuid[];
begin
    -- Lock in the order of all writers: the entities by name, then the facts.
    perform from entity e
    where e.space_id = origin.space_id and e.id in (
        select o.entity_id from fact o where o.space_id = origin.space_id and o.id = any(memories))
    order by e.name_key for no key update;
    perform from fact o where o.space_id = origin.space_id and o.id = any(memories) order by o.id for no key update;
    select * into merged from merged_values(origin.space_id, memories, cohesion, consolidate_memories.moment) v;
    if merged.members < cardinality(memories) then
        return;
    end if;
    parts := array(
        select p.id from fact o
        join fact p on p.space_id = o.space_id and p.entity_id = o.entity_id
            and (p.id = o.id or p.whole = o.whole and p.valid_until is not distinct from o.valid_until)
        where o.space_id = origin.space_id and o.id = any(memories));
    -- End the old texts first. Otherwise a merged text that equals one of them would not be stored.
    update observation o set valid_until = consolidate_memories.moment, closed_at = consolidate_memories.moment
    where o.space_id = origin.space_id and o.id = any(parts);
    select s.memory_id into memory_id
    from save_memory(
        consolidate_memories.content, entity, merged.tags, merged.entities, merged.source, merged.context, merged.extra, merged.strength,
        model, embeddings, credential, origin.space_id, client, tool, request, consolidate_memories.moment) s;
    -- The merged text is no better than the worst of its sources.
    update observation o set origin = least(find_origin(o.origin, o.tool, o.client, o.source), (
        select min(find_origin(p.origin, p.tool, p.client, p.source)) from observation p where p.space_id = o.space_id and p.id = any(parts)))
    from observation made
    where made.space_id = origin.space_id and made.id = consolidate_memories.memory_id and o.space_id = made.space_id
      and o.entity_id = made.entity_id and (o.id = made.id or o.whole = made.whole) and o.created_at = consolidate_memories.moment;
    update observation o set replaced_by = consolidate_memories.memory_id where o.space_id = origin.space_id and o.id = any(parts);
    for fact in select o.id, o.entity_id from fact o where o.space_id = origin.space_id and o.id = any(parts) order by o.id loop
        perform record_event('replaced', fact.entity_id, memory_id, null, origin,
                             jsonb_build_object('replaced', fact.id, 'until', null, 'new', false));
    end loop;
    update observation o set created_at = merged.created_at where o.space_id = origin.space_id and o.id = consolidate_memories.memory_id;
    update retention r set use_count = merged.use_count, last_used = merged.last_used
    where r.space_id = origin.space_id and r.observation_id = consolidate_memories.memory_id;
    insert into memory_link (space_id, from_id, to_id, relation_type, created_at)
    select origin.space_id, memory_id, old.id, 'consolidated_from', consolidate_memories.moment from unnest(memories) old(id);
end
$$;

comment on function textrawl.consolidate_memories is
    'Replace similar memories by one memory with their merged text. undo makes them valid again. Errors: TR010 to TR012 (access). '
    'Example: select memory_id from textrawl.consolidate_memories(array(select memory_id from textrawl.comparable_memories()), ''"one text"'');';
