create function textrawl.build_knowledge(
    facts jsonb default '[]', relations jsonb default '[]',
    model integer default null, embeddings halfvec[] default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out facts_created integer, out facts_duplicate integer, out relations_created integer
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    given  new_fact[];
    run    record;
    made   record;
    faults jsonb := '[]';
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    facts_created := 0; facts_duplicate := 0;
    -- All rows are claimed first and in one order: two batches over the same names cannot deadlock.
    perform claim_entity(name, type, origin)
    from (select distinct on (name_key(name)) name, type from (
              select value ->> 'entity' as name, value ->> 'type' as type, 1 as kind, ordinality
              from jsonb_array_elements(facts) with ordinality
              union all
              select value ->> 'from', coalesce(value ->> 'from_type', 'concept'), case when value ? 'from_type' then 2 else 3 end, ordinality
              from jsonb_array_elements(relations) with ordinality
              union all
              select value ->> 'to', coalesce(value ->> 'to_type', 'concept'), case when value ? 'to_type' then 2 else 3 end, ordinality
              from jsonb_array_elements(relations) with ordinality) mention
          order by name_key(name), kind, ordinality) entity;

    given := read_facts(facts, embeddings, origin.space_id);
    -- All at once, but for those that replace another: what came before them is there by then.
    for run in
        select min(ordinality)::integer as first, max(ordinality)::integer as last
        from (select ordinality, replaces is not null as alone, count(replaces) over (order by ordinality) as before
              from unnest(given) with ordinality) fact
        group by alone, before order by first
    loop
        begin
            select count(*) filter (where not duplicate) as created, count(*) filter (where duplicate) as duplicate into made
            from store_facts(given[run.first:run.last], model, origin);
            facts_created := facts_created + made.created;
            facts_duplicate := facts_duplicate + made.duplicate;
        exception when sqlstate 'TR001' or sqlstate 'TR002' or sqlstate 'TR003' then
            faults := faults || jsonb_build_object('path', format('facts[%s].replaces', run.first - 1), 'code', sqlstate);
        end;
    end loop;
    select faults || coalesce(jsonb_agg(jsonb_build_object('path', format('relations[%s].toEntity', place - 1), 'code', 'TR005') order by place), '[]')
    into faults
    from jsonb_array_elements(relations) with ordinality r (value, place)
    where name_key(value ->> 'from') = name_key(value ->> 'to');
    if faults <> '[]' then
        raise exception using errcode = 'TR006', message = 'nothing was stored', detail = faults::text;
    end if;
    relations_created := (
        select count(*) filter (where created)
        from (select array_agg((select id from entity where space_id = origin.space_id and name_key = name_key(value ->> 'from')) order by place) as sources,
                     array_agg(value ->> 'relation' order by place) as kinds,
                     array_agg((select id from entity where space_id = origin.space_id and name_key = name_key(value ->> 'to')) order by place) as targets
              from jsonb_array_elements(relations) with ordinality r (value, place)) edge,
             store_relations(edge.sources, edge.kinds, edge.targets, origin));
end
$$;

comment on function textrawl.build_knowledge is
    'Stores facts [{entity, type, observation, source, confidence, valid_until, replaces}] and then relations [{from, relation, to, from_type, to_type}], all or nothing. Error TR006: detail lists every bad item by its path; TR010 to TR012 (access).';
