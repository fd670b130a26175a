create function textrawl.limbic_decay(since timestamptz, moment timestamptz) returns double precision
language sql immutable parallel safe
begin atomic
    -- Half after 289 days, and never below a tenth. A date in the future, after the clock was set back, counts as fresh.
    select greatest(0.1, exp(greatest(-700, least(0, -0.0001 * extract(epoch from moment - since)::double precision / 3600))));
end;

comment on function textrawl.limbic_decay is
    'The freshness that is left between two instants, from 1 to 0.1. '
    'Example: select textrawl.limbic_decay(now() - interval ''289 days'', now());';
