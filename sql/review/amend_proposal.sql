create function textrawl.amend_proposal(
    proposal text,   -- id, or its first 8 or more characters
    successor text,  -- the text that is right
    model integer default null, embedding halfvec default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out entity_name text,
    out observation_id uuid  -- the fact with the text that is right
)
language plpgsql volatile security definer
set search_path from current
as $$
declare
    origin origin := open_write(credential, space, 'review', client, tool, request);
begin
    select d.entity_name, d.observation_id into entity_name, observation_id
    from decide_proposals(array[proposal], 'accept', null, origin.space_id, credential, client, tool, request) d;
    if observation_id is null then
        raise exception using errcode = 'TR017', message = 'only a fact has another text';
    end if;
    if successor is distinct from (select o.content from observation o where o.space_id = origin.space_id and o.id = observation_id) then
        observation_id := (revise_fact(
            entity_name, observation_id::text, 'edited by the reviewer who accepted it', coalesce(successor, ''), model, embedding,
            credential, origin.space_id, client, tool, request)).successor_id;
    end if;
end
$$;

comment on function textrawl.amend_proposal is
    'Accept the pending proposal of a fact in the name of its author, and store another text in its place, both or '
    'nothing. Needs the scopes read, review and write. Errors: those of decide_proposals() and revise_fact(), and TR017 '
    'if it is no fact. '
    'Example: select observation_id from textrawl.amend_proposal(''0b5c9e1f'', ''likes plum cake'');';
