create function textrawl.decay_score(
    use_count integer, last_used timestamptz, strength double precision default 1,
    policy textrawl.decay_policy default textrawl.default_policy(),
    moment timestamptz default statement_timestamp()
) returns double precision
language sql stable parallel safe
begin atomic
    -- The function is not strict and sets no options, so that the planner can inline it.
    select power(use_count + 1::double precision, (policy).beta) * strength
        * textrawl.decay_factor(greatest(extract(epoch from moment - last_used)::double precision, 0), policy);
end;

comment on function textrawl.decay_score is
    'The score of a memory: (use_count + 1) ^ beta * decay_factor * strength. It has no upper limit; a new memory of '
    'strength 1 has the score 1. '
    'Example: select textrawl.decay_score(4, now() - interval ''3 days'', 1.5);';
