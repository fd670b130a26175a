create function textrawl.save_memory(
    content jsonb,            -- a text, or a list of the parts of a long text
    entity text default null, -- the fact belongs to it; null: to the entity Memories
    tags text[] default '{}', entities text[] default '{}',
    source text default null, context text default null, extra jsonb default '{}',
    strength double precision default 1,
    model integer default null, embeddings halfvec[] default null,  -- one vector for each part
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out memory_id uuid, out duplicate boolean, out embedded boolean
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin      origin := open_write(credential, space, 'write', client, tool, request);
    known_model integer := (select m.id from embedding_model m where m.id = save_memory.model);
    owner       uuid := (select c.id from claim_entity(coalesce(save_memory.entity, 'Memories'), null, origin) c);
    piece       record;
    number      integer := 0;
    fresh       boolean := false;
begin
    for piece in select * from observation_parts(save_memory.content) loop
        number := number + 1;
        fresh := keep_observation(owner, piece.content, known_model, case when known_model is not null then embeddings[number] end, origin,
                                  piece.whole, piece.part, moment) or fresh;
    end loop;
    select o.id into memory_id from local_facts() o, observation_parts(save_memory.content) p
    where o.space_id = origin.space_id and o.entity_id = owner and o.content_hash = fact_hash(p.content)
      and (o.whole, o.part) is not distinct from (p.whole, p.part) and coalesce(p.part, 1) = 1
      and is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment)
    order by o.created_at desc limit 1;
    insert into retention as r (space_id, observation_id, saved, tags, entities, source, context, extra, strength, last_used)
    values (origin.space_id, memory_id, fresh, save_memory.tags, save_memory.entities, save_memory.source, save_memory.context,
            save_memory.extra, save_memory.strength, moment)
    -- Somebody saves the text again: it is the same memory, as fresh as a new one.
    on conflict (space_id, observation_id) do update
    set tags = array(select distinct unnest(r.tags || excluded.tags) order by 1),
        entities = array(select distinct unnest(r.entities || excluded.entities) order by 1),
        source = coalesce(excluded.source, r.source), context = coalesce(excluded.context, r.context),
        extra = r.extra || excluded.extra, strength = greatest(r.strength, excluded.strength),
        last_used = greatest(r.last_used, excluded.last_used);
    if fresh then
        update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = owner;
    end if;
    duplicate := not fresh;
    embedded := known_model is not null and embeddings is not null;
end
$$;

comment on function textrawl.save_memory is
    'Save a memory. A text that the entity has already is not stored again: its memory becomes fresh, and gets the '
    'tags and the strength too. Errors: TR010 to TR012 (access). '
    'Example: select memory_id from textrawl.save_memory(''"Use JWT tokens in all new APIs"'', tags => ''{security}'');';
