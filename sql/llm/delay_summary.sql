create function textrawl.delay_summary(
    entity uuid,
    answered boolean default true,  -- false: the LLM gave no answer, so this is not an attempt
    credential bytea default null, space integer default null
) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', null, 'summarize', null);
begin
    update summary s set due_at = now() + least(interval '1 day', interval '1 minute' * 4 ^ least(s.attempts, 6)),
        attempts = s.attempts - case when answered or s.attempts = 0 then 0 else 1 end
    where s.space_id = origin.space_id and s.entity_id = delay_summary.entity and s.due_at is not null;
    return found;
end
$$;

comment on function textrawl.delay_summary is
    'Try the summary of an entity again later, up to a day. The wait is four times as long after each attempt. Needs the '
    'scope write. Errors: TR010 to TR012 (access).';
