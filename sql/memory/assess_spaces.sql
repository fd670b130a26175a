create function textrawl.assess_spaces(
    spaces integer[], types text[] default null, model integer default null,
    out large boolean, out stale boolean, out most boolean, out rare boolean, out breadth integer, out own boolean
)
language plpgsql stable parallel safe
set search_path from current
-- What is counted up to a limit is read from an index, as far as that: not collected whole first.
set enable_bitmapscan = off
set enable_seqscan = off
as $$
declare
    known   bigint := coalesce((select sum(facts) from space_statistics where space_id = any(spaces)), 0);
    counted bigint := known;
    store   double precision := greatest(known, (select facts from search_statistics));
    least   integer;
begin
    own := cardinality(spaces) = 1 and has_own_index(spaces[1], model);
    most := known > store / 3;
    if own then
        store := known;  -- all that the index holds
    end if;
    least := 40 * sqrt(store);
    -- Statistics are old or missing at times, so what they call small is counted, but never beyond the limit.
    if known <= 4000 then
        counted := (select count(*) from (select from observation where space_id = any(spaces) limit 4001) o);
    end if;
    large := counted > case when known > 4000 then greatest(least, 6000) else 4000 end;
    stale := counted <= 4000 and abs(counted - known) > 0.2 * counted;
    most := large and most;
    least := greatest(least / 3, 1500);
    rare := large and types is not null and least >= (
        select count(*) from (
            select from observation where space_id = any(spaces) and entity_type = any(types) limit least + 1) o);
    breadth := case when store <= 300000 then 160 else 320 end;
end
$$;

comment on function textrawl.assess_spaces is
    'How spaces are searched: large if spaces hold more facts than comparing with all their vectors is good for (0.8 microseconds each, while the index looks at the more the less of the store they are: even at 40 times the root of its size); most if they hold more than a third of the store, so that words are looked up without naming them; rare if so few are of the given types, at most a third of that, that those are better compared one by one; own if it is one space whose vectors of the model have an index of their own, which is then asked; breadth of a search by index, for recall above .95 at 100,000 facts and .9 at a million; stale: small, and its statistics are out of date by more than a fifth. Example: select * from textrawl.assess_spaces(array[1]);';
