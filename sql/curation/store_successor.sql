create function textrawl.store_successor(
    wrong textrawl.observation,  -- the fact as it was before it was revised
    successor text, model integer, embedding halfvec, anchors text[], origin textrawl.origin,
    out id uuid, out duplicate boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    facts new_fact[] := read_facts(
        jsonb_build_array(jsonb_build_object(
            'observation', successor, 'valid_until', wrong.valid_until, 'said_at', wrong.said_at,
            'repository', wrong.repository, 'anchors', session_anchors(wrong.repository, anchors))),
        array[wrong.entity_id], array[embedding], origin.space_id, reading => false);
begin
    -- A fact that has the text already keeps its times and its author, on whatever day it begins.
    facts[1].said_at := null;
    id := (find_duplicates(origin.space_id, facts, null))[1];
    facts[1].said_at := wrong.said_at;
    duplicate := id is not null;
    if not duplicate then
        id := (select s.observation_id from store_facts(facts, model, origin) s);
        update observation o
        set valid_from = present_begin(origin.space_id, wrong.entity_id, wrong.valid_from, o.created_at),
            closed_at = wrong.closed_at, replaced_by = wrong.replaced_by
        where o.space_id = origin.space_id and o.id = store_successor.id;
    end if;
    update observation o set replaced_by = store_successor.id where o.space_id = origin.space_id and o.id = wrong.id;
end
$$;

comment on function textrawl.store_successor is
    'Store the fact that is right in place of a wrong fact, with the times and the successor of the wrong fact. '
    'The caller has locked the entity and ended the wrong fact.';
