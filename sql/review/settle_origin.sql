create function textrawl.settle_origin(
    accepted textrawl.proposal, stored uuid,  -- the fact, or the statement of the relation; null: a finding that stores none
    duplicate boolean, origin textrawl.origin
) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    present observation;
    former  text;
    settled text;
begin
    select * into present from observation o where o.space_id = origin.space_id and o.id = stored;
    former := find_origin(present.origin, present.tool, present.client, present.source);
    settled := case
        when find_origin(null, origin.tool, origin.client, null) = 'said' and (not duplicate or present.relation_id is null) then 'said'
        when not duplicate and accepted.finding = 'relation' then least(former, (
            select find_origin(o.origin, o.tool, o.client, o.source) from observation o
            where o.space_id = origin.space_id and o.id = accepted.one))
        else former end;
    if settled <> former then
        update observation o set origin = settled where o.space_id = origin.space_id and o.id = stored;
        if duplicate then
            perform record_event('updated', present.entity_id, stored, null, origin, jsonb_build_object(
                'before', jsonb_build_object('origin', former), 'after', jsonb_build_object('origin', settled)));
        end if;
    end if;
end
$$;

comment on function textrawl.settle_origin is
    'Set the origin of what an accepted proposal stored: said, if a person accepted it. A relation that a fact states has at '
    'most the origin of this fact. An undo takes it back.';
