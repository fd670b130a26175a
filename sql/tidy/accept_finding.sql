create function textrawl.accept_finding(
    accepted textrawl.proposal, origin textrawl.origin, out entity_id uuid, out entity_name text
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    moment timestamptz := clock_timestamp();
    ending observation;
    former timestamptz;
begin
    if accepted.kind = 'merge' then
        entity_id := accepted.one;
        perform join_entities(accepted.one, accepted.other, moment, origin);
    elsif accepted.kind = 'pin' then
        entity_id := (select o.entity_id from observation o where o.space_id = origin.space_id and o.id = accepted.one);
        if find_origin(null, origin.tool, origin.client, null) <> 'said' then
            raise exception using errcode = 'TR116', message = 'only a person pins', detail = left(accepted.id::text, 8);
        elsif require_pin(origin.space_id, accepted.one) then
            insert into pin (space_id, fact_id, author_id) values (origin.space_id, accepted.one, origin.author_id);
            perform record_event('pinned', entity_id, accepted.one, null, origin);
            update entity e set updated_at = moment where e.space_id = origin.space_id and e.id = entity_id;
        end if;
    else
        select * into ending from observation o where o.space_id = origin.space_id and o.id = accepted.one for no key update;
        entity_id := ending.entity_id;
        if accepted.finding in ('disagreement', 'double') then
            select r.valid_until into former
            from observation o
            cross join lateral present_begin(origin.space_id, o.entity_id, o.valid_from, moment) begin
            cross join lateral replace_fact(origin.space_id, ending.id, o.id, begin, moment) r
            where o.space_id = origin.space_id and o.id = accepted.other;
            perform record_event('replaced', ending.entity_id, accepted.other, null, origin,
                jsonb_build_object('replaced', ending.id, 'until', former, 'new', false));
        else
            perform end_facts(array[ending.id], greatest(least(accepted.valid_until, moment), ending.valid_from), origin);
        end if;
        update entity e set updated_at = moment where e.space_id = origin.space_id and e.id = ending.entity_id;
    end if;
    entity_name := (select e.name from entity e where e.space_id = origin.space_id and e.id = entity_id);
end
$$;

comment on function textrawl.accept_finding is
    'Carry out a finding of tidy_memory() that merges two entities or ends a fact, or pin a fact for the '
    'person of `origin` (error TR116: it is no person). A fact that disagrees with another one, or repeats it, ends when '
    'the other one begins. store_proposal() has checked the finding, and claim_proposed() has locked the entities.';
