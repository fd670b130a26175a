create function textrawl.source_granularity(granularity text) returns text
language sql immutable parallel safe
begin atomic
    select case granularity when 'weekly' then 'daily' when 'monthly' then 'weekly' when 'yearly' then 'monthly' end;
end;

comment on function textrawl.source_granularity is
    'The granularity of the journal entries that are consolidated into an entry: days into weeks, weeks into months, '
    'months into years. '
    'Example: select textrawl.source_granularity(''weekly'');';
