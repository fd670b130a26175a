create function textrawl.propose_extraction(
    space integer, document uuid, version bigint,
    facts jsonb, relations jsonb,  -- as in store_proposals()
    model integer default null, fact_vectors halfvec[] default null, relation_vectors halfvec[] default null,
    llm text default null  -- provider and model of the LLM that found them
) returns uuid[]
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    written   document_version;
    origin    origin;
    proposals uuid[];
begin
    select v.* into written
    from extraction_pending p
    join document d on d.space_id = p.space_id and d.id = p.document_id
    join document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where p.space_id = propose_extraction.space and p.document_id = propose_extraction.document
      and p.version = propose_extraction.version and v.content is not null;
    if not found then
        return '{}';
    end if;
    origin := row(propose_extraction.space, written.author_id, written.client, 'extraction', written.request, true)::origin;
    with item as (
        select 'fact' as kind, value, ordinality as place, entity_keys(propose_extraction.space, value ->> 'entity') as keys,
            null::text[] as to_keys, fact_hash(value ->> 'observation') as hash
        from jsonb_array_elements(facts) with ordinality
        union all
        select 'relation', value, ordinality, entity_keys(propose_extraction.space, value ->> 'from'),
            entity_keys(propose_extraction.space, value ->> 'to'), fact_hash(relation_key(value ->> 'relation'))
        from jsonb_array_elements(relations) with ordinality
    ), new as (
        -- An LLM can repeat itself.
        select distinct on (i.kind, i.keys, i.to_keys, i.hash) i.* from item i
        -- Nobody is asked twice: a proposal of the same text is pending or was decided, whoever made it.
        where not exists (
                  select from proposal p
                  where p.space_id = propose_extraction.space and p.kind = i.kind and p.entity_key = any(i.keys)
                    and case i.kind when 'fact' then p.content_hash = i.hash
                            else p.to_key = any(i.to_keys) and relation_key(p.relation_type) = relation_key(i.value ->> 'relation') end
                    and p.decision is distinct from 'withdrawn')
          and not exists (
                  select from proposal p
                  where i.kind = 'fact' and p.kind = 'fact' and p.space_id = propose_extraction.space and p.entity_key = any(i.keys)
                    and p.decision is distinct from 'withdrawn'
                    and is_reworded(p.content, i.value ->> 'observation',
                                    case when p.model_id = propose_extraction.model then p.vector <=> fact_vectors[i.place] end))
          and not exists (
                  select from item e
                  where i.kind = 'fact' and e.kind = 'fact' and e.keys = i.keys and e.place < i.place
                    and is_reworded(e.value ->> 'observation', i.value ->> 'observation', fact_vectors[e.place] <=> fact_vectors[i.place]))
          and not exists (
                  select from find_entities(array[propose_extraction.space], i.value ->> 'entity') e
                  join observation o on o.space_id = e.space_id and o.entity_id = e.entity_id
                  where i.kind = 'fact' and o.content_hash = i.hash)
          and not exists (
                  select from find_entities(array[propose_extraction.space], i.value ->> 'from') f
                  join relation r on r.space_id = f.space_id and r.from_entity = f.entity_id
                  join find_entities(array[propose_extraction.space], i.value ->> 'to') t on t.entity_id = r.to_entity
                  where i.kind = 'relation' and relation_key(r.relation_type) = relation_key(i.value ->> 'relation'))
        order by i.kind, i.keys, i.to_keys, i.hash, i.place
    )
    select p.proposals into proposals
    from (select coalesce(jsonb_agg(value || case
                     when strpos(regexp_replace(written.content, '\s+', ' ', 'g'), value ->> 'evidence') > 0 then jsonb_build_object(
                         'anchors', array[concat_ws(' ', 'document', written.document_id, written.version)])
                     else '{}' end order by place) filter (where kind = 'fact'), '[]') as facts,
                 coalesce(jsonb_agg(value order by place) filter (where kind = 'relation'), '[]') as relations,
                 array_agg(fact_vectors[place] order by place) filter (where kind = 'fact') as fact_vectors,
                 array_agg(relation_vectors[place] order by place) filter (where kind = 'relation') as relation_vectors
          from new) chosen
    cross join lateral propose_all(
        chosen.facts, chosen.relations, propose_extraction.model, chosen.fact_vectors, chosen.relation_vectors, origin, true) p
    where chosen.facts <> '[]' or chosen.relations <> '[]';
    update proposal p set llm = left(propose_extraction.llm, 200) where p.space_id = propose_extraction.space and p.id = any(proposals);
    return coalesce(proposals, '{}');
end
$$;

comment on function textrawl.propose_extraction is
    'Propose the facts and relations that an LLM found in a claimed journal entry, for its author. Left out: items that '
    'are stored, also if they have ended, and items that were proposed before and not withdrawn, or are in the answer twice, '
    'also in other words or about an alias: see is_reworded(). If the entry was changed meanwhile, nothing is proposed. Returns the ids.';
