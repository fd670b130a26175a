create function textrawl.pin_fact(
    entity text, fact text,
    pinned boolean default true,  -- false: take the pin away
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out observation_id uuid, out entity_name text, out content text,
    out changed boolean  -- false: it was so before
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin    origin := open_write(credential, space, 'write', client, tool, request);
    entity_id uuid;
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    entity_id := (claim_named(array[entity], origin))[1];
    entity_name := (select e.name from entity e where e.space_id = origin.space_id and e.id = entity_id);
    observation_id := find_fact(origin.space_id, entity_id, fact);
    content := (select f.content from fact f where f.space_id = origin.space_id and f.id = observation_id);
    changed := case when pinned then require_pin(origin.space_id, observation_id)
        else pin_fault(origin.space_id, observation_id) is not distinct from 'pinned' end;
    if not changed then
        return;
    elsif pinned then
        insert into pin (space_id, fact_id, author_id) values (origin.space_id, observation_id, origin.author_id);
    else
        delete from pin p using pinned_facts(array[origin.space_id]) f
        where p.space_id = f.space_id and p.fact_id = f.pinned and observation_id in (f.observation_id, f.pinned);
    end if;
    -- A digest changes only with the memory: see digest_memory().
    update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = entity_id;
    perform record_event(case when pinned then 'pinned' else 'unpinned' end, entity_id, observation_id, null, origin);
end
$$;

comment on function textrawl.pin_fact is
    'Pin a valid fact of at most 200 characters, or take a pin away. A space has at most twelve pins with 2,400 bytes, and so '
    'has each repository. Digests begin with the pinned facts that belong to their session. Of a pinned fact that was '
    'replaced, the successor counts. Needs the scopes read and write. Errors: TR001 or TR002 (no fact or several facts '
    'match), TR010 to TR012 (access), TR050 (no such entity), TR114 (the fact is over or too long), TR115 (no more facts can '
    'be pinned). '
    'Example: select * from textrawl.pin_fact(''Atlas'', ''deploys only from main'');';
