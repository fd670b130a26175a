create function textrawl.share_memories(
    entity text,
    target integer,                   -- the space that gets the facts
    facts text[] default null,        -- ids or texts of facts; null for the whole entity with its relations
    move boolean default false,       -- also take the facts away from the source
    ended boolean default false,      -- with facts that are no longer valid
    dry_run boolean default false,
    credential bytea default null, space integer default null,  -- the space that has the facts
    client text default null, tool text default 'sql', request text default null,
    out entity_id uuid, out entity_name text,  -- in the target; the id is null in a dry run
    out shared_facts bigint, out duplicate_facts bigint, out relations bigint,
    out moved_facts bigint, out moved_relations bigint,
    out sample text[]
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    giver  origin := open_write(credential, space, case when move then 'forget' else 'read' end, client, tool, request);
    taker  origin;
    sees   boolean;  -- who cannot read learns nothing about what is there
    known  uuid[];
    source entity;
    chosen uuid[];
    edges  uuid[] := '{}';
begin
    if not may_read(credential, giver.space_id) then
        perform refuse_access(credential, 'read');
    end if;
    taker := open_write(credential, target, 'write', client, tool, request);
    sees := may_read(credential, taker.space_id);
    if giver.space_id = taker.space_id then
        raise exception using errcode = 'TR075', message = 'both spaces are the same';
    end if;
    if not dry_run then
        perform claim_removal();
    end if;
    -- Lock in the order of the spaces, so that two sessions that share with each other cannot deadlock.
    if taker.space_id < giver.space_id and not dry_run then
        perform claim_known(taker.space_id, array[entity]);
    end if;
    known := claim_known(giver.space_id, array[entity]);
    select * into source from entity e where e.space_id = giver.space_id and e.id = known[1];
    if source.id is null then
        raise exception using errcode = 'TR050', message = 'no such entity', detail = entity;
    end if;
    chosen := chosen_facts(source, facts, ended);
    if facts is null then
        edges := array(
            select r.id from relation r
            where r.space_id = giver.space_id and source.id in (r.from_entity, r.to_entity)
              and is_valid(r.valid_from, r.valid_until, r.closed_at, present => clock_timestamp()));
    end if;
    if exists (select from space s where s.id = taker.space_id and s.external_reviewed) and exists (
        select from observation o where o.space_id = giver.space_id and o.id = any(chosen || edges)
          and find_origin(o.origin, o.tool, o.client, o.source) = 'external') then
        raise exception using errcode = 'TR136', message = 'external facts are reviewed there';
    end if;
    entity_name := source.name;
    sample := (select (array_agg(o.content order by o.created_at desc, o.id))[1:3] from fact o
               where o.space_id = giver.space_id and o.id = any(chosen));
    if dry_run then
        select count(*) filter (where not p.duplicate or not sees), case when sees then count(*) filter (where p.duplicate) end
        into shared_facts, duplicate_facts from plan_copies(giver.space_id, chosen, taker.space_id, (
            select e.id from entity e
            where e.space_id = taker.space_id and e.name_key = entity_key(taker.space_id, source.name))) p;
        relations := cardinality(edges);
        moved_facts := case when move then cardinality(chosen) else 0 end;
        moved_relations := case when move then (select count(*) from removable_relations(giver.space_id, edges)) else 0 end;
        return;
    end if;
    perform claim_ends(source, edges, taker);
    select e.id, e.name into entity_id, entity_name from entity e
    where e.space_id = taker.space_id and e.name_key = entity_key(taker.space_id, source.name);
    select c.shared, c.repeated into shared_facts, duplicate_facts
    from copy_facts(giver.space_id, chosen, entity_id, taker, move) c;
    relations := copy_relations(giver.space_id, edges, taker, move);
    moved_facts := 0; moved_relations := 0;
    if move then
        select m.facts, m.relations into moved_facts, moved_relations
        from take_away(source, chosen, array(select removable_relations(giver.space_id, edges)), giver) m;
    end if;
    if not sees then
        entity_name := source.name; duplicate_facts := null; shared_facts := cardinality(chosen); relations := cardinality(edges);
    end if;
end
$$;

comment on function textrawl.share_memories is
    'Copy or move facts of an entity, or the entity with its facts and relations, to another space. The copies keep '
    'authors, origins and dates, and get new ids. A text that is there already is not stored again. You need read in the '
    'source and write in the target, and for a move also forget in the source. Errors: TR001 or TR002 (no fact or '
    'several facts match), TR010 to TR012 (access), TR075 (both spaces are the same), TR050 (no such entity), TR055 (a '
    'fact is a part of a journal entry), TR060 (a space is a graph), TR136 (the target reviews external facts). '
    'Example: select * from textrawl.share_memories(''Jeff'', 2, dry_run => true);';
