create function textrawl.limbic_decay(since timestamptz, moment timestamptz) returns double precision
language sql immutable parallel safe
begin atomic
    -- The freshness is a half after 289 days, and never below a tenth. If the clock was set back, `since` can be later
    -- than `moment`. The freshness is then 1.
    select greatest(0.1, exp(greatest(-700, least(0, -0.0001 * extract(epoch from moment - since)::double precision / 3600))));
end;

comment on function textrawl.limbic_decay is
    'The freshness of an entity at a moment, from 1 down to 0.1. The parameter since is the time when the entity was last used. '
    'Example: select textrawl.limbic_decay(now() - interval ''289 days'', now());';
