create function textrawl.period_state(space integer, granularity text, period text, moment timestamptz default now())
returns table (
    state text,      -- due, done, unfinished (the period is not over) or empty (there are no entries to consolidate)
    days daterange,
    sources bigint   -- number of the entries to consolidate
)
language plpgsql stable rows 1
set search_path from current
as $$
#variable_conflict use_column
begin
    days := journal_period(period_state.granularity, period);
    select count(*) into sources from journal_entries(period_state.space) j
    where j.granularity = source_granularity(period_state.granularity)
      and lower(j.period) >= lower(days) and lower(j.period) < upper(days);
    state := case
        when exists (select from journal_entries(period_state.space) j
                     where j.granularity = period_state.granularity and j.date = period_state.period) then 'done'
        when upper(days) > (moment at time zone 'UTC')::date then 'unfinished'
        when sources = 0 then 'empty'
        else 'due' end;
    return next;
end
$$;

comment on function textrawl.period_state is
    'The state of a week, month or year of the journal: whether it can be consolidated now. A week belongs to the '
    'month and the year of its Monday. Errors: TR056 (the period does not exist). '
    'Example: select state, sources from textrawl.period_state(1, ''weekly'', ''2026-W19'');';
