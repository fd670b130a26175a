create function textrawl.claim_extraction(lease double precision)
returns table (
    space_id integer, document_id uuid, version bigint, path text, content text,
    attempts integer, -- number of attempts, with this attempt
    aliases jsonb     -- those that the content has, by the key of the name of their entity: {key: [alias]}
)
language sql volatile security definer rows 1
set search_path from current
begin atomic
    -- A claim only sets the time of the next attempt. If the server crashes, the entry therefore becomes due again.
    with due as (
        select p.space_id, p.document_id from textrawl.extraction_pending p
        -- The next attempt is at most a day ahead. If next_attempt is later, the clock was set back meanwhile.
        where p.next_attempt <= now() or p.next_attempt > now() + interval '1 day'
        order by p.next_attempt limit 1 for update skip locked
    ), claimed as (
        update textrawl.extraction_pending p
        set attempts = p.attempts + 1, next_attempt = now() + least(interval '1 day', make_interval(secs => lease) * (
            -- The graph, and the parts of up to 30,000 characters: two parts in a row have more than that together.
            2 + (select coalesce(max(length(v.content)), 0) / 15000 from textrawl.document_version v
                 where v.space_id = p.space_id and v.document_id = p.document_id and v.version = p.version)))
        from due where p.space_id = due.space_id and p.document_id = due.document_id
        returning p.space_id, p.document_id, p.version, p.attempts
    )
    select c.space_id, c.document_id, c.version, d.path, v.content, c.attempts, (
            select coalesce(jsonb_object_agg(known.key, known.aliases), '{}')
            from (select e.name_key as key, jsonb_agg(a.name order by a.name) as aliases
                  from textrawl.said_aliases(array[c.space_id], v.content) a
                  join textrawl.entity e on e.space_id = a.space_id and e.id = a.entity_id
                  group by e.name_key) known)
    from claimed c
    join textrawl.document d on d.space_id = c.space_id and d.id = c.document_id
    -- If an undo took the version back, there is no content.
    left join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version;
end;

comment on function textrawl.claim_extraction is
    'Claim a journal entry that waits for extraction, so that only one server sends it to the LLM. The claim ends by '
    'itself after `lease` seconds for each call that the entry can need.';
