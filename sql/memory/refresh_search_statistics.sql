create function textrawl.refresh_search_statistics(force boolean default false) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
declare
    counted_before double precision;
    current_facts double precision;
    share double precision;
    counted integer[];
    stored regclass := stored_table('observation');
begin
    -- A count would still include facts that another session is removing. Such a session has called claim_removal(),
    -- and this lock then fails.
    begin
        lock table removal_lock in exclusive mode nowait;
    exception when lock_not_available then
        return false;
    end;
    select facts into counted_before from search_statistics;
    -- Postgres's own row counter costs nothing, but it lags and is lost in a crash. So count the rows of small tables.
    current_facts := pg_stat_get_live_tuples(stored);
    if current_facts < 50000 then
        current_facts := (select count(*) from observation);
    end if;
    if not force and abs(current_facts - counted_before) <= 0.1 * counted_before then
        return false;
    end if;

    delete from space_statistics;
    insert into space_statistics (space_id, facts, coherence, lives)
    select space_id, facts, order_coherence(space_id), (
        select jsonb_object_agg(kind, days) from (
            select state_kind(o.claim) as kind,
                least(36500, ceil(extract(epoch from percentile_cont(0.5) within group (order by o.valid_until - o.valid_from)) / 86400)) as days
            from observation o
            where o.space_id = counted_space.space_id and o.replaced_by is not null and o.valid_from < o.valid_until
              and not is_valid(o.valid_from, o.valid_until, o.closed_at) and state_kind(o.claim) is not null
            group by 1 having count(*) >= 5) ended)
    from (select space_id, count(*) as facts from observation group by space_id) counted_space;
    insert into search_statistics (facts) select coalesce(sum(facts), 0) from space_statistics
    on conflict (singleton) do update set facts = excluded.facts, refreshed_at = now();

    -- In a large store, use a sample of 5 %. A sample would miss most words of a small space. So count small spaces
    -- fully, smallest first, up to 50,000 facts in total.
    share := case when (select facts from search_statistics) > 200000 then 0.05 else 1 end;
    counted := array(
        select space_id from (
            select space_id, facts, sum(facts) over (order by facts, space_id) as total from space_statistics) s
        where facts <= 10000 and (share = 1 or total <= 50000));
    with fresh as materialized (
        select o.space_id, word, count(*)::integer as frequency
        from observation o cross join unnest(tsvector_to_array(o.fts)) word
        where o.space_id = any(counted) and not starts_with(word, '~s')
        group by 1, 2
        union all
        select s.space_id, w.word, least(round(w.ndoc / share), s.facts)::integer
        from space_statistics s cross join lateral ts_stat(format(
            'select fts from %s tablesample system (%s) where space_id = %s', stored, 100 * share, s.space_id)) w
        where s.facts > 10000 and not starts_with(w.word, '~s')
        union all
        select o.space_id, word, least(20 * count(*), min(s.facts))::integer
        from sample_documents(5) o cross join unnest(tsvector_to_array(o.fts)) word
        join space_statistics s on s.space_id = o.space_id
        where s.facts <= 10000 and o.space_id <> all(counted) and not starts_with(word, '~s')
        group by 1, 2
    ), removed as (
        delete from lexeme l
        where not exists (select from fresh where fresh.space_id = l.space_id and fresh.word = l.word)
    )
    insert into lexeme as l (space_id, word, frequency) select space_id, word, frequency from fresh
    on conflict (space_id, word) do update set frequency = excluded.frequency where l.frequency <> excluded.frequency;
    execute format('analyze (skip_locked) %s, %s', stored_table('lexeme'), stored);
    return true;
end
$$;

comment on function textrawl.refresh_search_statistics is
    'Count the words and facts of each space, and measure how long its states hold, if the number of facts changed by more '
    'than a tenth. If "force" is true, always count. Return false if nothing was counted, because the change was too small, another session is counting, '
    'or facts are being removed. '
    'Example: select textrawl.refresh_search_statistics();';
