create function textrawl.record_recalls(recalls jsonb) returns integer
language sql volatile security definer
set search_path from current
begin atomic
    with caller as materialized (
        -- A recall has a space. Record it only if the token of the recall still has a right in this space. If the
        -- recall has no token, this session must have a right in the space.
        select credential.token, t.actor_id, array(select r.space_id from textrawl.access_rights(credential.hash) r) as spaces
        from (select distinct value ->> 'credential' as token, decode(value ->> 'credential', 'hex') as hash
              from jsonb_array_elements(recalls)) credential
        left join textrawl.token t on t.hash = credential.hash
    ), line as materialized (
        select recall.value, recall.place, caller.actor_id, caller.spaces
        from jsonb_array_elements(recalls) with ordinality recall (value, place)
        join caller on caller.token is not distinct from recall.value ->> 'credential'
    ), answer as (
        select recall.place, s.id as space_id, fact.id::uuid as id
        from line recall
        cross join jsonb_each(recall.value -> 'found') found
        cross join jsonb_array_elements_text(found.value) fact (id)
        join textrawl.space s on s.name = found.key
    ), locked_fact as materialized (
        -- Lock the facts. A session that forgets one of them waits until this recall is recorded, and then removes the
        -- fact and the query from the log. Skip facts that are being forgotten.
        select o.space_id, o.id from textrawl.observation o
        where (o.space_id, o.id) in (select answer.space_id, answer.id from answer)
        order by o.space_id, o.id
        for key share skip locked
    ), forgotten as materialized (
        select distinct answer.place from answer
        where not exists (select from locked_fact where locked_fact.space_id = answer.space_id and locked_fact.id = answer.id)
    )
    insert into textrawl.recall (space_id, at, client, mode, format, structured, tokens, budget, items, dropped,
        query, query_hash, hits, milliseconds, score, cosine, coverage, verbose_tokens, facts, actor_id)
    select s.id, entry.at, entry.client, entry.mode, entry.format, entry.structured, entry.tokens, entry.budget,
        entry.items, entry.dropped,
        case when forgotten.place is null then left(entry.query, 500) end,
        case when forgotten.place is null then entry.query_hash end, entry.hits, entry.milliseconds, entry.score, entry.cosine,
        entry.coverage, entry.verbose_tokens,
        -- Readers of this space must not see the ids of facts of other spaces.
        array(select found.id::uuid from jsonb_array_elements_text(entry.found -> s.name) with ordinality found (id, place)
              join locked_fact on locked_fact.space_id = s.id and locked_fact.id = found.id::uuid order by found.place),
        line.actor_id
    from line
    cross join jsonb_to_record(line.value) as entry(space integer, at timestamptz, client text, mode text, format text, structured boolean,
                                              tokens integer, budget integer, items integer, dropped integer,
                                              query text, query_hash text, hits integer, milliseconds real, score real, cosine real,
                                              coverage real, verbose_tokens integer, found jsonb)
    join textrawl.space s on s.id = coalesce(entry.space, textrawl.default_space()) and s.id = any(line.spaces)
    left join forgotten on forgotten.place = line.place
    order by line.place;
    with caller as materialized (
        select credential.token,
            array(select r.space_id from textrawl.access_rights(credential.hash) r where 'read' = any(r.scopes)) as spaces
        from (select distinct value ->> 'credential' as token, decode(value ->> 'credential', 'hex') as hash
              from jsonb_array_elements(recalls)) credential
    )
    insert into textrawl.recalled as r (space_id, observation_id, recalls, last_at)
    select o.space_id, o.id, entry.recalls, entry.last_at
    from (select s.id as space_id, fact.id::uuid as id, count(*) as recalls, max((recall.value ->> 'at')::timestamptz) as last_at
          from jsonb_array_elements(recalls) recall
          join caller on caller.token is not distinct from recall.value ->> 'credential'
          cross join jsonb_each(recall.value -> 'found') found
          cross join jsonb_array_elements_text(found.value) fact (id)
          join textrawl.space s on s.name = found.key and s.id = any(caller.spaces)
          group by s.id, fact.id) entry
    join textrawl.observation o on o.space_id = entry.space_id and o.id = entry.id
    -- All servers lock facts in this order, so they cannot deadlock. Skip facts that are being forgotten.
    order by o.space_id, o.id
    for key share of o skip locked
    on conflict (space_id, observation_id) do update
    set recalls = r.recalls + excluded.recalls, last_at = greatest(r.last_at, excluded.last_at);
    select jsonb_array_length(recalls);
end;

comment on function textrawl.record_recalls is
    'Record recalls, and for each fact the number of recalls that returned it. Return the number of recalls. Servers '
    'call this every few seconds. The text of a query is left out if one of its facts was forgotten meanwhile. A '
    'recall is left out if its credential has no right in the space.';
