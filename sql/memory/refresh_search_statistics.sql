create function textrawl.refresh_search_statistics(force boolean default false) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
declare
    known double precision;
    now_there double precision;
    share double precision := 1;
begin
    -- Facts that are about to go are still seen here: claim_removal() keeps the two apart.
    if not pg_try_advisory_xact_lock(hashtextextended('textrawl.removal', 0)) then
        return false;
    end if;
    select facts into known from search_statistics;
    -- The server's own counter costs nothing but lags and is lost in a crash, so small tables are counted.
    now_there := pg_stat_get_live_tuples('observation'::regclass);
    if now_there < 50000 then
        now_there := (select count(*) from observation);
    end if;
    if not force and abs(now_there - known) <= 0.1 * known then
        return false;
    end if;

    if now_there > 200000 then
        share := 0.05;
    end if;
    with fresh as materialized (
        select word, greatest(1, round(ndoc / share))::integer as frequency
        from ts_stat(format('select fts from textrawl.observation tablesample system (%s)', 100 * share))
        where not starts_with(word, '~s')
    ), gone as (
        delete from lexeme l where not exists (select from fresh where fresh.word = l.word)
    )
    insert into lexeme as l select word, frequency from fresh
    on conflict (word) do update set frequency = excluded.frequency where l.frequency <> excluded.frequency;

    delete from space_statistics;
    insert into space_statistics select space_id, count(*) from observation group by space_id;
    insert into search_statistics (facts) select coalesce(sum(facts), 0) from space_statistics
    on conflict (singleton) do update set facts = excluded.facts, refreshed_at = now();
    analyze (skip_locked) lexeme, observation;
    return true;
end
$$;

comment on function textrawl.refresh_search_statistics is
    'Counts words and facts anew when the store has changed by more than a tenth, or always with force; false when there was nothing to do, another session is at it, or something is just being forgotten. Example: select textrawl.refresh_search_statistics();';
