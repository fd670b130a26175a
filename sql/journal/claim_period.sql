create function textrawl.claim_period(
    granularity text, period text, claimant uuid,
    lease double precision,              -- seconds until the claim ends by itself
    moment timestamptz default clock_timestamp(),
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    state text,            -- claimed, busy (another session has claimed it), or the state of period_state()
    identity jsonb,        -- the identity files, in their order, [{path, content}]
    sources jsonb,         -- the entries to consolidate, in their order, [{path, content}]
    participants text[]    -- of the entries in `sources`
)
language plpgsql volatile security definer rows 1
set search_path from current
as $$
#variable_conflict use_column
declare
    -- The result is stored in the space whose texts the caller reads here.
    origin  origin := open_write(credential, space, 'write', client, tool, request);
    home    integer := graph_space(credential, origin.space_id);
    days    daterange := journal_period(claim_period.granularity, claim_period.period);
    claimed boolean;
begin
    insert into consolidation as c (space_id, granularity, period, claimant, claimed_until)
    values (home, claim_period.granularity, claim_period.period, claim_period.claimant, moment + make_interval(secs => lease))
    on conflict (space_id, granularity, period) do update
    set claimant = excluded.claimant, claimed_until = excluded.claimed_until
    -- No claim is so long: the clock was set back after it was made, and the claimant can be gone.
    where c.claimed_until <= moment or c.claimed_until > moment + greatest(make_interval(secs => lease), interval '1 day')
    returning true into claimed;
    state := 'busy';
    if claimed then
        select s.state into state from period_state(home, claim_period.granularity, claim_period.period, moment) s;
    end if;
    if state = 'due' then
        state := 'claimed';
        select jsonb_agg(jsonb_build_object('path', d.path, 'content', d.content)
                         order by array_position(array['self', 'user', 'relationship', 'custom'], split_part(d.path, '/', 1)), d.path)
        into identity from current_documents(home, 'identity') d;
        select jsonb_agg(jsonb_build_object('path', j.path, 'content', j.content) order by j.period, j.path),
            array(select distinct p.name from journal_entries(home) o
                  cross join lateral jsonb_array_elements_text(o.attributes -> 'participants') p (name)
                  where o.granularity = source_granularity(claim_period.granularity)
                    and lower(o.period) >= lower(days) and lower(o.period) < upper(days) order by p.name)
        into sources, participants
        from journal_entries(home) j
        where j.granularity = source_granularity(claim_period.granularity)
          and lower(j.period) >= lower(days) and lower(j.period) < upper(days);
    elsif claimed then
        delete from consolidation c
        where c.space_id = home and c.granularity = claim_period.granularity and c.period = claim_period.period
          and c.claimant = claim_period.claimant;
    end if;
    return next;
end
$$;

comment on function textrawl.claim_period is
    'Claim a week, month or year of the journal for its consolidation, and return the texts for it. Only one session '
    'can have the claim of a period. The claim ends with store_period(), or by itself after `lease` seconds. Errors: '
    'TR010 to TR012 (access), TR056 (the period does not exist). '
    'Example: select state from textrawl.claim_period(''weekly'', ''2026-W19'', gen_random_uuid(), 120);';
