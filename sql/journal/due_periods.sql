create function textrawl.due_periods(
    granularity text,
    target text default null,       -- a period, or a day in it; null: the last period that is over
    every boolean default false,    -- true: every period that is due, except periods whose entry was deleted
    moment timestamptz default now(),
    credential bytea default null, space integer default null
) returns table (
    period text, state text,  -- as of period_state()
    sources bigint            -- number of the entries to consolidate
)
language plpgsql stable security definer rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    home  integer := graph_space(credential, space);
    today date := (moment at time zone 'UTC')::date;
begin
    if every then
        return query
            select p.period, s.state, s.sources
            from (select distinct period_name(due_periods.granularity, lower(j.period)) as period
                  from journal_entries(home) j
                  where j.granularity = source_granularity(due_periods.granularity)) p
            cross join lateral period_state(home, due_periods.granularity, p.period, moment) s
            where s.state = 'due'
              and not exists (select from document d
                              where d.space_id = home and d.kind = 'journal' and d.path = due_periods.granularity || '/' || p.period)
              and not exists (select from document_tombstone t
                              where t.space_id = home and t.kind = 'journal' and t.path = due_periods.granularity || '/' || p.period)
            order by p.period;
        return;
    end if;
    period := case
        when target is null then
            period_name(due_periods.granularity,
                        lower(journal_period(due_periods.granularity, period_name(due_periods.granularity, today))) - 1)
        when target ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' then
            period_name(due_periods.granularity, lower(journal_period('daily', target)))
        else target end;
    return query
        select due_periods.period, s.state, s.sources from period_state(home, due_periods.granularity, due_periods.period, moment) s;
end
$$;

comment on function textrawl.due_periods is
    'The periods of the journal to consolidate: the period of `target`, or all that are due. Errors: TR010, TR011 '
    '(access), TR056 (`target` is neither a period of the granularity nor a day). '
    'Example: select period, sources from textrawl.due_periods(''weekly'', every => true);';
