create function textrawl.store_proposal(
    accepted textrawl.proposal, reviewer textrawl.origin,
    out entity_id uuid, out entity_name text, out observation_id uuid, out relation_id uuid, out duplicate boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space  integer := reviewer.space_id;
    origin origin := row(space, accepted.author_id, accepted.client, accepted.tool, accepted.request, false)::origin;
    vector constant halfvec := case when accepted.model_id is not null then accepted.vector end;
begin
    if past_end(accepted.valid_until) > accepted.created_at then
        -- The proposal was about the time until its end, which has passed.
        raise exception using errcode = 'TR008', message = 'the proposal ended before it was decided', detail = left(accepted.id::text, 8);
    elsif accepted.finding is not null and finding_fault(space, accepted.kind, accepted.one, accepted.other) is not null then
        raise exception using errcode = 'TR008', message = 'the finding is gone', detail = left(accepted.id::text, 8);
    elsif accepted.kind in ('merge', 'end', 'pin') then
        select f.entity_id, f.entity_name into entity_id, entity_name
        from accept_finding(accepted, case accepted.kind when 'pin' then reviewer else origin end) f;
        duplicate := false;
    elsif accepted.kind = 'fact' then
        select s.entity_id, s.entity_name, s.observation_id, s.duplicate
        into entity_id, entity_name, observation_id, duplicate
        from store_fact(to_jsonb(accepted) - array['vector', 'fts', case when accepted.finding is not null then 'evidence' end]
            || jsonb_build_object('entity', accepted.entity_name, 'type', accepted.entity_type, 'observation', accepted.content),
            accepted.model_id, vector, origin) s;
    else
        select c.from_id, c.from_name, c.relation_id, not c.created
        into entity_id, entity_name, relation_id, duplicate
        from connect_entities(
            accepted.entity_name, accepted.relation_type, accepted.to_name, accepted.entity_type, accepted.to_type,
            accepted.replaces_edges, accepted.model_id, vector, origin, accepted.valid_from, accepted.valid_until) c;
    end if;
exception when sqlstate 'TR001' or sqlstate 'TR002' or sqlstate 'TR003' then
    raise exception using errcode = 'TR008', message = 'the proposal can no longer be stored', detail = left(accepted.id::text, 8);
end
$$;

comment on function textrawl.store_proposal is
    'Store the fact or the relation of a proposal in the name of its author, as remember_fact() or relate_entities() '
    'would, or carry out a finding. Error TR008: the end of the fact has passed, the fact to replace was forgotten, is no '
    'longer valid or is one of several, both ends of the relation are one entity now, or what was found is gone.';
