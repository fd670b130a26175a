create function textrawl.assess_spaces(spaces integer[], out large boolean, out stale boolean)
language plpgsql stable parallel safe
set search_path from current
as $$
declare
    known   bigint := coalesce((select sum(facts) from space_statistics where space_id = any(spaces)), 0);
    counted bigint := known;
begin
    -- Statistics are old or missing at times, so what they call small is counted, but never beyond the limit.
    if known <= 4000 then
        counted := (select count(*) from (select from observation where space_id = any(spaces) limit 4001) o);
    end if;
    large := counted > 4000;
    stale := not large and abs(counted - known) > 0.2 * counted;
end
$$;

comment on function textrawl.assess_spaces is
    'Whether spaces hold more facts than a scan of all their vectors is good for (4000, at about a microsecond each), and whether, if not, their statistics are out of date by more than a fifth. Example: select * from textrawl.assess_spaces(array[1]);';
