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
    origin     origin := open_write(credential, space, 'write', client, tool, request);
    entity_id  uuid;
    chosen     observation;
    is_pinned  boolean;
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    entity_id := (claim_named(array[entity], origin))[1];
    entity_name := (select e.name from entity e where e.space_id = origin.space_id and e.id = entity_id);
    observation_id := find_fact(origin.space_id, entity_id, fact);
    perform from space s where s.id = origin.space_id for no key update;  -- pins of one space are counted in turn
    select * into chosen from fact f where f.space_id = origin.space_id and f.id = observation_id;
    content := chosen.content;
    is_pinned := exists (
        select from pinned_facts(array[origin.space_id]) p where observation_id in (p.observation_id, p.pinned));
    changed := is_pinned <> pinned;
    if not changed then
        return;
    end if;
    if not pinned then
        delete from pin p using pinned_facts(array[origin.space_id]) f
        where p.space_id = f.space_id and p.fact_id = f.pinned and observation_id in (f.observation_id, f.pinned);
    elsif not is_valid(chosen.valid_from, chosen.valid_until, chosen.closed_at) or chosen.part > 1
          or char_length(chosen.content) > 200 then
        raise exception using errcode = 'TR114', message = 'only a short valid fact can be pinned', detail = left(chosen.content, 40);
    elsif (select count(*) >= 12 or sum(octet_length(f.content)) + octet_length(chosen.content) > 2400  -- some 600 tokens
           from pinned_facts(array[origin.space_id]) p
           join fact f on f.space_id = p.space_id and f.id = p.observation_id
           where f.repository is not distinct from chosen.repository and is_valid(f.valid_from, f.valid_until, f.closed_at)) then
        raise exception using errcode = 'TR115', message = 'too much is pinned';
    else
        insert into pin (space_id, fact_id, author_id) values (origin.space_id, observation_id, origin.author_id);
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
