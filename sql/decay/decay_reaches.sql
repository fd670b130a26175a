create function textrawl.decay_reaches(
    level double precision, use_count integer, last_used timestamptz, strength double precision default 1,
    policy textrawl.decay_policy default textrawl.default_policy()
) returns timestamptz
language plpgsql immutable strict parallel safe
set search_path from current
as $$
declare
    start   double precision := power(use_count + 1::double precision, (policy).beta) * strength;
    share   double precision;
    seconds double precision;
    early   double precision := 0;
    late    double precision := 3600;
begin
    if start <= level then
        return last_used;
    elsif level <= 0 then
        return null;
    end if;
    share := level / start;
    if (policy).model = 'exponential' then
        seconds := -ln(share) / (policy).lambda;
    elsif (policy).model = 'two_component' then
        -- There is no formula for the sum of two exponentials. The sum only falls, so halve the range that has the level.
        while decay_factor(late, policy) > share and late < 1e11 loop
            late := 2 * late;
        end loop;
        for step in 1..70 loop
            seconds := (early + late) / 2;
            if decay_factor(seconds, policy) > share then early := seconds; else late := seconds; end if;
        end loop;
    else
        seconds := (policy).half_life_days * 86400 / (power(2::double precision, 1 / (policy).alpha) - 1)
            * (exp(least(-ln(share) / (policy).alpha, 700)) - 1);
    end if;
    return case when seconds < 1e11 then last_used + make_interval(secs => seconds) end;
end
$$;

comment on function textrawl.decay_reaches is
    'When the score of a memory falls to a level, if nobody uses the memory before. Null: never. '
    'Example: select textrawl.decay_reaches(0.05, use_count => 0, last_used => now());';
