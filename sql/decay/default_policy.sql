create function textrawl.default_policy() returns textrawl.decay_policy
language sql immutable parallel safe
begin atomic
    select row(
        null,                      -- space_id
        'power_law', 3, 1.1,       -- model, half_life_days, alpha
        2.673e-6, 0.6,             -- lambda (a half-life of 3 days), beta
        1.603e-5, 1.147e-6, 0.7,   -- lambda_fast (12 hours), lambda_slow (7 days), weight_fast
        0.05, 0.65, 5, 14,         -- forget_threshold, promote_threshold, promote_use_count, promote_days
        0.3, 0.15, 0.35,           -- review_share, review_from, review_until
        true, 0.1                  -- auto_reinforce, cross_domain_boost
    )::textrawl.decay_policy;
end;

comment on function textrawl.default_policy is
    'The policy of a space that did not change it. '
    'Example: select (textrawl.default_policy()).half_life_days;';
