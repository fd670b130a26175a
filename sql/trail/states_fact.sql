create function textrawl.states_fact(action text, observation uuid, detail jsonb) returns boolean
language sql immutable parallel safe
begin atomic
    -- If a revision names no successor, its event has the id of the wrong fact, and states no fact.
    select action in ('remembered', 'repeated', 'replaced', 'updated', 'shared')
        or action = 'revised' and detail ->> 'replaced' <> observation::text;
end;

comment on function textrawl.states_fact is
    'True if the actor of an event stated the fact of this event. A fact stays as long as such an event is not undone. '
    'Example: select count(*) from textrawl.event e where textrawl.states_fact(e.action, e.observation_id, e.detail);';
