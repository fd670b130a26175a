create function textrawl.import_items(lines jsonb, kind text, run uuid) returns table (
    place integer,  -- number of the line in the file
    stored uuid,
    outcome text    -- as import_entities(), import_facts(), import_relations(), import_aliases() and propose_items() return it
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    names constant jsonb := '{"entity": "import_entities", "alias": "import_aliases", "fact": "import_facts",
                              "relation": "import_relations"}';
    rows  jsonb;
    changes jsonb;  -- what the changed items were before
begin
    perform require_owner();
    if exists (select from import_run r join space s on s.id = r.space_id where r.id = import_items.run and s.external_reviewed) then
        if import_items.kind in ('fact', 'relation') then
            return query select p.place, p.stored, p.outcome from propose_items(lines, import_items.kind, import_items.run) p;
            return;
        end if;
        lines := (select jsonb_agg(line - 'description') from jsonb_array_elements(lines) line);
    end if;
    if import_items.kind in ('fact', 'relation') then
        lines := (select jsonb_agg(case when d.id is null then g else
                      g || jsonb_build_object('id', coalesce(free_id(d.space_id, d.id), d.id)) end)
                  from jsonb_array_elements(lines) g
                  left join lateral (
                      select d.space_id, d.id from undone d
                      where d.space_id = (g ->> 'space')::integer and d.id = (g ->> 'id')::uuid limit 1) d on true);
    end if;
    execute format('select jsonb_agg(i) from textrawl.%I($1) i', names ->> import_items.kind) into rows using lines;
    select jsonb_agg(jsonb_build_object('space', g.space, 'former', former.id, 'successor', d.stored, 'until', g.valid_until,
                                        'source', g.replaced_source,
                                        'item', case when i.entity_id is null and i.document_id is null then jsonb_strip_nulls(jsonb_build_object(
                                            'run', i.run_id, 'digest', i.digest, 'fact', i.observation_id, 'relation', i.relation_id)) end))
    into changes
    from jsonb_to_recordset(lines) g(place integer, space integer, source_id text, digest text, replaces uuid,
                                        replaced_source text, valid_until timestamptz)
    join jsonb_to_recordset(rows) d(place integer, stored uuid, outcome text) on d.place = g.place and d.outcome in ('added', 'known')
    join import_run r on r.space_id = g.space and r.id = import_items.run
    left join imported_item i on i.space_id = g.space and i.system = r.system and i.source_id = g.source_id and i.digest <> g.digest
    cross join lateral (select coalesce(g.replaces, i.observation_id, i.relation_id) as id) former
    where former.id <> d.stored;
    insert into imported_item as i (space_id, system, source_id, run_id, digest, entity_id, observation_id, relation_id)
    select distinct on (g.space, r.system, g.source_id) g.space, r.system, g.source_id, import_items.run, g.digest,
        case when import_items.kind = 'entity' then d.stored end, case when import_items.kind = 'fact' then d.stored end,
        case when import_items.kind = 'relation' then d.stored end
    from jsonb_to_recordset(lines) g(place integer, space integer, source_id text, digest text)
    join jsonb_to_recordset(rows) d(place integer, stored uuid, outcome text) on d.place = g.place and d.outcome in ('added', 'known')
    join import_run r on r.space_id = g.space and r.id = import_items.run
    where import_items.kind <> 'alias' and g.source_id is not null
    order by g.space, r.system, g.source_id, g.place desc
    on conflict on constraint imported_item_pkey do update
    set run_id = excluded.run_id, digest = excluded.digest, document_id = null, entity_id = excluded.entity_id,
        observation_id = excluded.observation_id, relation_id = excluded.relation_id, stored_at = clock_timestamp()
    where (i.digest, i.entity_id, i.observation_id, i.relation_id)
          is distinct from (excluded.digest, excluded.entity_id, excluded.observation_id, excluded.relation_id);
    -- The import and not the author of a fact did this, so an undo of the import finds these events.
    perform record_event(
        case import_items.kind when 'entity' then 'created' when 'fact' then 'remembered' when 'relation' then 'related' else 'named' end,
        case import_items.kind when 'entity' then d.stored when 'relation' then g.from_entity else g.entity end,
        case when import_items.kind = 'fact' then d.stored end, case when import_items.kind = 'relation' then d.stored end,
        row(g.space, r.author_id, null, 'import', 'import ' || import_items.run, false)::origin,
        case when import_items.kind = 'alias' then jsonb_build_object('alias', d.stored)
             -- An undo gives the item its former values.
             when c.item ? 'run' then jsonb_build_object('former', c.item) else '{}' end)
    from jsonb_to_recordset(lines) g(place integer, space integer, entity uuid, from_entity uuid)
    join jsonb_to_recordset(rows) d(place integer, stored uuid, outcome text) on d.place = g.place and d.outcome = 'added'
    join import_run r on r.space_id = g.space and r.id = import_items.run
    left join (select distinct on (c.space, c.successor) c.space, c.successor, c.item
               from jsonb_to_recordset(changes) c(space integer, successor uuid, item jsonb)
               order by c.space, c.successor) c on c.space = g.space and c.successor = d.stored
    order by g.place;
    -- In the same transaction, so that a killed import leaves no fact beside the one that replaces it.
    if changes is not null then
        perform supersede_items(changes, import_items.run);
    end if;
    return query select d.place, d.stored, d.outcome from jsonb_to_recordset(rows) d(place integer, stored uuid, outcome text);
end
$$;

comment on function textrawl.import_items is
    'Import entities, aliases, facts or relations of another system, with the ids and digests of their items and the events '
    'by which an undo takes the import back, in one transaction. The fact of a changed item replaces the former one. Error TR013: not the owner.';
