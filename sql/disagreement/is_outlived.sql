create function textrawl.is_outlived(claim jsonb, last timestamptz, lives jsonb) returns boolean
language sql stable parallel safe
begin atomic
    -- Medians of the development histories of benchmarks.truth, of each kind with five endings. One life for all kinds would
    -- mark 22 to 75 % of the time in which a state still held. These mark 8 %.
    select coalesce(last < now() - interval '1 day'
        * (('{"plan": 95, "when": 572, "cost": 730, "work": 1186}'::jsonb || coalesce(lives, '{}')) -> textrawl.state_kind(claim))::integer, false);
end;

comment on function textrawl.is_outlived is
    'Whether a fact was last said longer ago than states of its kind usually hold. `lives` are the days that were measured in its '
    'space: see space_statistics.lives. Answers show the day of such a fact, so that a model can doubt it. '
    'Example: select textrawl.is_outlived(textrawl.make_claim(''works at Globex''), ''2019-01-01'', null);';
