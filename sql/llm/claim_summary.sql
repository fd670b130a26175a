create function textrawl.claim_summary(
    lease double precision,  -- seconds until the claim ends by itself
    credential bytea default null, space integer default null
) returns table (
    entity_id uuid, entity_name text,
    facts jsonb,      -- at most the 200 facts that were said last, said last first, [{id, content}]
    facts_hash uuid,  -- for store_summary()
    attempts integer  -- number of attempts, with this attempt
)
language plpgsql volatile security definer rows 1
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', null, 'summarize', null);
begin
    perform open_write(credential, origin.space_id, 'read', null, 'summarize', null);
    return query
        with due as (
            select s.entity_id from summary s
            where s.space_id = origin.space_id and s.due_at is not null
              -- No wait is so long: the clock was set back meanwhile.
              and (s.due_at <= now() or s.due_at > now() + interval '2 days')
            order by s.due_at limit 1 for update skip locked
        ), claimed as (
            update summary s set attempts = s.attempts + 1, due_at = now() + least(make_interval(secs => lease), interval '1 day')
            from due where s.space_id = origin.space_id and s.entity_id = due.entity_id
            returning s.entity_id, s.attempts
        )
        select c.entity_id, e.name, (
                select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'content', o.content) order by o.said_at desc, o.id), '[]')
                from (select f.id, f.content, f.said_at from fact f
                      where f.space_id = origin.space_id and f.entity_id = c.entity_id and f.whole is null
                        and is_valid(f.valid_from, f.valid_until, f.closed_at)
                      order by f.said_at desc, f.id limit 200) o),
            (summarized_facts(origin.space_id, c.entity_id)).hash, c.attempts
        from claimed c join entity e on e.space_id = origin.space_id and e.id = c.entity_id;
end
$$;

comment on function textrawl.claim_summary is
    'Claim an entity whose summary is due, so that only one server asks the LLM for it. Needs the scopes read and write. '
    'Errors: TR010 to TR012 (access).';
