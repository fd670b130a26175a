create function textrawl.spaces_are_large(spaces integer[]) returns boolean
language plpgsql stable parallel safe
set search_path from current
as $$
begin
    -- Statistics are old or missing at times, so what they call small is counted, but never beyond the limit.
    return coalesce((select sum(facts) from space_statistics where space_id = any(spaces)), 0) > 4000
        or (select count(*) from (select from observation where space_id = any(spaces) limit 4001) o) > 4000;
end
$$;

comment on function textrawl.spaces_are_large is
    'Whether spaces hold more facts than a scan of all their vectors is good for: 4000, at about a microsecond each. Example: select textrawl.spaces_are_large(array[1]);';
