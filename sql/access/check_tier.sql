create function textrawl.check_tier(tier text, recall_tokens integer) returns void
language plpgsql immutable parallel safe
set search_path from current
as $$
begin
    if tier not in ('public', 'personal', 'sensitive')
        or recall_tokens is not null and (tier is null or recall_tokens not between 0 and 100000) then
        raise exception using errcode = 'TR061',
            message = 'a graph has the tier public, personal or sensitive, and 0 to 100,000 tokens for each answer';
    end if;
end
$$;

comment on function textrawl.check_tier is
    'Raise TR061 unless the tier and the number of tokens for each answer fit a graph. A space without a tier (null) holds '
    'facts, and has no number of tokens.';
