create function textrawl.decay_factor(seconds double precision, policy textrawl.decay_policy) returns double precision
language sql immutable parallel safe
begin atomic
    -- The exponents stay in the range of exp(), which raises an error for a result that is too small.
    select case (policy).model
        when 'exponential' then exp(-least((policy).lambda * seconds, 700))
        when 'two_component' then (policy).weight_fast * exp(-least((policy).lambda_fast * seconds, 700))
            + (1 - (policy).weight_fast) * exp(-least((policy).lambda_slow * seconds, 700))
        else exp(-least((policy).alpha
            * ln(1 + seconds * (power(2::double precision, 1 / (policy).alpha) - 1) / ((policy).half_life_days * 86400)), 700)) end;
end;

comment on function textrawl.decay_factor is
    'The part of its score that a memory keeps after some seconds without use, from 1 down to 0. '
    'Example: select textrawl.decay_factor(3 * 86400, textrawl.default_policy());';
