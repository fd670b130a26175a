create function textrawl.webhook_body(happened textrawl.event, content boolean) returns text
language sql stable
begin atomic
    select jsonb_build_object(
        'type', 'memory.' || textrawl.webhook_kind(happened.action),
        'timestamp', to_char(happened.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'data', jsonb_strip_nulls(jsonb_build_object(
            'cursor', happened.transaction || ':' || happened.id,
            'space_name', s.name, 'author_name', a.name, 'client', happened.client, 'tool', happened.tool,
            'action', happened.action, 'entity_id', happened.entity_id, 'observation_id', happened.observation_id,
            'relation_id', happened.relation_id, 'proposal_id', happened.detail ->> 'proposal',
            -- Read the texts now. So a text that was forgotten meanwhile is not sent.
            'entity_name', case when shown.names then coalesce(e.name, happened.detail ->> 'path') end,
            'content', case when shown.names then coalesce(
                o.content, source.name || ' ' || textrawl.statement_text(r.relation_type, target.name)) end)))::text
    from textrawl.space s
    cross join textrawl.actor a
    -- A proposal is for its author and for reviewers only, and documents of a graph have a tier.
    cross join lateral (
        select webhook_body.content and s.tier is null
            and (not happened.detail ? 'proposal' or happened.action = 'accepted') as names) shown
    left join textrawl.entity e on shown.names and e.space_id = happened.space_id and e.id = happened.entity_id
    left join textrawl.observation o on shown.names and o.space_id = happened.space_id and o.id = happened.observation_id
    left join textrawl.relation r on shown.names and r.space_id = happened.space_id and r.id = happened.relation_id
    left join textrawl.entity source on source.space_id = r.space_id and source.id = r.from_entity
    left join textrawl.entity target on target.space_id = r.space_id and target.id = r.to_entity
    where s.id = happened.space_id and a.id = happened.actor_id;
end;

comment on function textrawl.webhook_body is
    'The body of the message about an event, as JSON in the form of Standard Webhooks. With content, it has the name of '
    'the entity and the text of the fact or relation, if they still exist. It never has the text of a proposal or of a '
    'document of a graph.';
