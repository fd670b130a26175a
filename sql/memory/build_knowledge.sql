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
    item   jsonb;
    place  bigint;
    made   boolean;
    faults jsonb := '[]';
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    facts_created := 0; facts_duplicate := 0; relations_created := 0;
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

    for item, place in select value, ordinality from jsonb_array_elements(facts) with ordinality loop
        begin
            select duplicate into made from store_fact(
                item ->> 'entity', item ->> 'type', item ->> 'observation',
                coalesce(item ->> 'source', 'conversation'), coalesce((item ->> 'confidence')::double precision, 1),
                (item ->> 'valid_until')::timestamptz, item ->> 'replaces',
                model, embeddings[place], origin);
            facts_created := facts_created + (not made)::integer;
            facts_duplicate := facts_duplicate + made::integer;
        exception when sqlstate 'TR001' or sqlstate 'TR002' or sqlstate 'TR003' then
            faults := faults || jsonb_build_object('path', format('facts[%s].replaces', place - 1), 'code', sqlstate);
        end;
    end loop;
    for item, place in select value, ordinality from jsonb_array_elements(relations) with ordinality loop
        begin
            select created into made from store_relation(
                item ->> 'from', item ->> 'relation', item ->> 'to', item ->> 'from_type', item ->> 'to_type', origin);
            relations_created := relations_created + made::integer;
        exception when sqlstate 'TR005' then
            faults := faults || jsonb_build_object('path', format('relations[%s].toEntity', place - 1), 'code', sqlstate);
        end;
    end loop;
    if faults <> '[]' then
        raise exception using errcode = 'TR006', message = 'nothing was stored', detail = faults::text;
    end if;
end
$$;

comment on function textrawl.build_knowledge is
    'Stores facts [{entity, type, observation, source, confidence, valid_until, replaces}] and then relations [{from, relation, to, from_type, to_type}], all or nothing. Error TR006: detail lists every bad item by its path; TR010 to TR012 (access).';
