create function textrawl.propose_pin(
    entity text, fact text, reason text,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out entity_name text, out observation_id uuid,
    out proposal_id uuid,  -- null: the fact is pinned
    out duplicate boolean  -- the fact is pinned, or a pin was proposed before, whatever was decided
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin    origin := open_write(credential, space, 'write', client, tool, request, proposing => true);
    entity_id uuid;
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    if not coalesce(char_length(reason) between 1 and 500, false) then
        raise exception using errcode = 'TR019', message = 'a proposal needs a reason', detail = 'reason';
    end if;
    entity_id := (claim_named(array[entity], origin))[1];
    entity_name := (select e.name from entity e where e.space_id = origin.space_id and e.id = entity_id);
    observation_id := find_fact(origin.space_id, entity_id, fact);
    duplicate := not require_pin(origin.space_id, observation_id);
    if not duplicate then
        proposal_id := (
            select p.id from proposal p
            where p.space_id = origin.space_id and p.one = observation_id and p.kind = 'pin' and p.decision is distinct from 'withdrawn');
        duplicate := proposal_id is not null;
    end if;
    if duplicate then
        return;
    elsif (select count(*) >= 12 from proposal p where p.space_id = origin.space_id and p.kind = 'pin' and p.decision is null) then
        raise exception using errcode = 'TR115', message = 'twelve pins wait for a decision';
    end if;
    proposal_id := propose_finding(
        (select jsonb_build_object('finding', 'pin', 'kind', 'pin', 'one', f.id, 'name', entity_name, 'name_key', name_key(entity_name),
             'said', f.content, 'evidence', reason, 'repository', f.repository)
         from fact f where f.space_id = origin.space_id and f.id = observation_id), origin);
end
$$;

comment on function textrawl.propose_pin is
    'Propose to pin a fact, as pin_fact() does, with a reason for the person who decides: see decide_proposals(). A fact is '
    'proposed once, and twelve proposals of a space can wait. Needs the scopes read and propose or write. Errors: TR001 or '
    'TR002 (no fact or several facts match), TR010 to TR012 (access), TR019 (no reason), TR050 (no such entity), TR114 (the '
    'fact is over or too long), TR115 (no more can be pinned or proposed). '
    'Example: select proposal_id from textrawl.propose_pin(''Atlas'', ''deploys only from main'', ''it is asked each day'');';
