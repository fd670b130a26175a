create function textrawl.store_period(
    granularity text, period text, claimant uuid,
    content text default null,             -- null: only end the claim
    participants text[] default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    document_id uuid, space_id integer, path text, number integer, created boolean, merged boolean, changed boolean
)
language plpgsql volatile security definer rows 1
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    if store_period.content is not null then
        return query
            select w.document_id, w.space_id, w.path, w.number, w.created, w.merged, w.changed
            from write_entry(store_period.granularity, store_period.period, store_period.content, 'textrawl',
                             participants => store_period.participants, only_new => true, credential => store_period.credential,
                             space => origin.space_id, client => store_period.client, tool => store_period.tool,
                             request => store_period.request) w;
    end if;
    delete from consolidation c
    where c.space_id = origin.space_id and c.granularity = store_period.granularity and c.period = store_period.period
      and c.claimant = store_period.claimant;
end
$$;

comment on function textrawl.store_period is
    'Store a consolidated journal entry and end the claim, in one transaction. If the entry exists already, it is not '
    'changed. Errors: TR010 to TR012 (access), TR056 (the period does not exist), TR057 (no text, or more than 200,000 '
    'characters). '
    'Example: select path, changed from textrawl.store_period(''weekly'', ''2026-W19'', gen_random_uuid(), ''- A quiet week'');';
