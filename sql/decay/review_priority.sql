create function textrawl.review_priority(
    score double precision, policy textrawl.decay_policy default textrawl.default_policy()
) returns double precision
language sql immutable parallel safe
begin atomic
    select case when score between (policy).review_from and (policy).review_until
        then 1 - power((2 * score - (policy).review_from - (policy).review_until) / ((policy).review_until - (policy).review_from), 2)
        else 0 end;
end;

comment on function textrawl.review_priority is
    'How urgently a memory with a score should be reviewed: 1 in the middle of the range from review_from to '
    'review_until, 0 at its ends and outside. '
    'Example: select textrawl.review_priority(0.25);';
