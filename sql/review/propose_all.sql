create function textrawl.propose_all(
    facts jsonb, relations jsonb, model integer, fact_vectors halfvec[], relation_vectors halfvec[], origin textrawl.origin,
    reading boolean,  -- true: the caller can read, so it learns at once that "replaces" names no fact
    out proposals uuid[], out repeated boolean[]
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    faults jsonb;
begin
    select coalesce(jsonb_agg(jsonb_build_object('path', path, 'code', code) order by item_number), '[]') into faults
    from (select item_number, format('facts[%s].replaces', item_number - 1) as path,
              replaced_fault(origin.space_id, value ->> 'entity', value ->> 'replaces') as code
          from jsonb_array_elements(facts) with ordinality f (value, item_number)
          where reading and value ? 'replaces' and value ->> 'replaces' is not null) fault
    where code is not null;
    faults := list_period_faults(facts, relations) || faults;
    if faults <> '[]' then
        raise exception using errcode = 'TR006', message = 'nothing was stored', detail = faults::text;
    end if;
    select array_agg(s.proposal_id order by s.item_number), array_agg(s.duplicate order by s.item_number) into proposals, repeated
    from store_proposals(facts, relations, model, fact_vectors, relation_vectors, origin)
        with ordinality s (proposal_id, duplicate, item_number);
    perform record_event('proposed', null, null, null, origin, jsonb_build_object('proposal', id))
    from unnest(proposals) id;
end
$$;

comment on function textrawl.propose_all is
    'Store the facts and relations of a caller who can only propose. Return the ids of the proposals, facts first, and '
    'which of them the author had proposed before. Error TR006: the detail lists each refused item by its path.';
