create function textrawl.limbic_decay(since timestamptz, moment timestamptz) returns double precision
language sql immutable parallel safe
begin atomic
    -- Half in 289 days; no less than a tenth, however long ago. What a clock that went back calls the future is fresh.
    select greatest(0.1, exp(greatest(-700, least(0, -0.0001 * extract(epoch from moment - since)::double precision / 3600))));
end;

comment on function textrawl.limbic_decay is
    'What is left of a memory''s freshness between two instants, 1 to 0.1. Example: select textrawl.limbic_decay(now() - interval ''289 days'', now());';
