create function textrawl.link_memories(
    from_memory uuid, to_memory uuid, relation_type text,
    strength double precision default 1, metadata jsonb default '{}',
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out link_id uuid, out created boolean
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    absent uuid;
    entity uuid;
    fresh  constant uuid := gen_random_uuid();
begin
    select g.id into absent from unnest(array[from_memory, to_memory]) g(id)
    where not exists (select from fact o where o.space_id = origin.space_id and o.id = g.id) limit 1;
    if absent is not null then
        raise exception using errcode = 'TR053', message = 'no such memory', detail = absent::text;
    end if;
    insert into memory_link as l (space_id, id, from_id, to_id, relation_type, strength, metadata)
    values (origin.space_id, fresh, from_memory, to_memory, link_memories.relation_type, link_memories.strength, link_memories.metadata)
    on conflict (space_id, from_id, to_id, relation_type) do update
    set strength = excluded.strength, metadata = l.metadata || excluded.metadata
    returning l.id, l.id = fresh into link_id, created;
    select o.entity_id into entity from observation o where o.space_id = origin.space_id and o.id = from_memory;
    perform record_event('linked', entity, from_memory, null, origin,
                         jsonb_build_object('to', to_memory, 'link', link_id, 'type', link_memories.relation_type));
end
$$;

comment on function textrawl.link_memories is
    'Link two memories. If the link exists, set its strength. Errors: TR053 (no such memory; the detail is its id), '
    'TR010 to TR012 (access).';
