create function textrawl.renew_claim(
    granularity text, period text, claimant uuid,
    lease double precision,  -- seconds from now until the claim ends by itself
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    update consolidation c set claimed_until = clock_timestamp() + make_interval(secs => lease)
    where c.space_id = origin.space_id and c.granularity = renew_claim.granularity and c.period = renew_claim.period
      and c.claimant = renew_claim.claimant;
    return found;
end
$$;

comment on function textrawl.renew_claim is
    'Extend the claim of claim_period(). A long period needs several requests to the LLM, and the claim must not end '
    'between them. Return false if another session has the claim now. Errors: TR010 to TR012 (access).';
