create function textrawl.record_recalls(recalls jsonb) returns integer
language sql volatile security definer
set search_path from current
begin atomic
    with asking as materialized (
        -- A line counts for a space only where its token, or else this session, may do something now.
        select asked.token, t.actor_id, array(select r.space_id from textrawl.access_rights(asked.hash) r) as spaces
        from (select distinct value ->> 'credential' as token, decode(value ->> 'credential', 'hex') as hash
              from jsonb_array_elements(recalls)) asked
        left join textrawl.token t on t.hash = asked.hash
    ), line as materialized (
        select recall.value, recall.place, asking.actor_id, asking.spaces
        from jsonb_array_elements(recalls) with ordinality recall (value, place)
        join asking on asking.token is not distinct from recall.value ->> 'credential'
    ), answer as (
        select recall.place, s.id as space_id, fact.id::uuid as id
        from line recall
        cross join jsonb_each(recall.value -> 'found') found
        cross join jsonb_array_elements_text(found.value) fact (id)
        join textrawl.space s on s.name = found.key
    ), there as materialized (
        -- Whoever forgets one of them waits until this is recorded, and withdraws it; one that is being
        -- forgotten, or was since it was in the answer, is not there.
        select o.space_id, o.id from textrawl.observation o
        where (o.space_id, o.id) in (select answer.space_id, answer.id from answer)
        order by o.space_id, o.id
        for key share skip locked
    ), forgotten as materialized (
        select distinct answer.place from answer
        where not exists (select from there where there.space_id = answer.space_id and there.id = answer.id)
    )
    insert into textrawl.recall (space_id, at, client, mode, format, structured, tokens, budget, items, dropped,
        query, query_hash, hits, milliseconds, score, cosine, coverage, verbose_tokens, facts, actor_id)
    select s.id, given.at, given.client, given.mode, given.format, given.structured, given.tokens, given.budget, given.items, given.dropped,
        case when forgotten.place is null then left(given.query, 500) end,
        case when forgotten.place is null then given.query_hash end, given.hits, given.milliseconds, given.score, given.cosine, given.coverage, given.verbose_tokens,
        -- Ids of other spaces are nothing for those who may read this one.
        array(select found.id::uuid from jsonb_array_elements_text(given.found -> s.name) with ordinality found (id, place)
              join there on there.space_id = s.id and there.id = found.id::uuid order by found.place),
        line.actor_id
    from line
    cross join jsonb_to_record(line.value) as given(space integer, at timestamptz, client text, mode text, format text, structured boolean,
                                              tokens integer, budget integer, items integer, dropped integer,
                                              query text, query_hash text, hits integer, milliseconds real, score real, cosine real,
                                              coverage real, verbose_tokens integer, found jsonb)
    join textrawl.space s on s.id = coalesce(given.space, textrawl.default_space()) and s.id = any(line.spaces)
    left join forgotten on forgotten.place = line.place
    order by line.place;
    with asking as materialized (
        select asked.token, array(select r.space_id from textrawl.access_rights(asked.hash) r where 'read' = any(r.scopes)) as spaces
        from (select distinct value ->> 'credential' as token, decode(value ->> 'credential', 'hex') as hash
              from jsonb_array_elements(recalls)) asked
    )
    insert into textrawl.recalled as r (space_id, observation_id, recalls, last_at)
    select o.space_id, o.id, given.recalls, given.last_at
    from (select s.id as space_id, fact.id::uuid as id, count(*) as recalls, max((recall.value ->> 'at')::timestamptz) as last_at
          from jsonb_array_elements(recalls) recall
          join asking on asking.token is not distinct from recall.value ->> 'credential'
          cross join jsonb_each(recall.value -> 'found') found
          cross join jsonb_array_elements_text(found.value) fact (id)
          join textrawl.space s on s.name = found.key and s.id = any(asking.spaces)
          group by s.id, fact.id) given
    join textrawl.observation o on o.space_id = given.space_id and o.id = given.id
    -- One order for all servers, and nobody waits for a fact that is being forgotten.
    order by o.space_id, o.id
    for key share of o skip locked
    on conflict (space_id, observation_id) do update
    set recalls = r.recalls + excluded.recalls, last_at = greatest(r.last_at, excluded.last_at);
    select jsonb_array_length(recalls);
end;

comment on function textrawl.record_recalls is
    'Notes recalls, and how often each fact was in one; called by servers every few seconds. What was asked about a fact that was forgotten in between is not kept, nor anything of a line whose credential may do nothing in the space. Returns how many were given.';
