create function textrawl.create_snapshots(
    reason text default 'manual', pinned boolean default false, source text default null,
    days integer default null,  -- also delete what prune_documents() deletes; null: delete nothing
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp()
) returns table (id text)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    perform claim_removal();
    -- Lock the clock, so that no other session changes a file between two snapshots.
    perform from document_clock c where c.space_id = origin.space_id for update;
    return query
        select kept.id
        from (select d.id, d.path from current_documents(origin.space_id, 'identity') d order by d.path offset 0) d
        cross join lateral keep_snapshot(d.id, reason, source, pinned, moment, origin) as kept (id)
        where kept.id is not null;
    -- This deletes versions for good, so the caller also needs the scope forget.
    if days is not null and exists (
        select from access_rights(credential) r where r.space_id = origin.space_id and 'forget' = any(r.scopes)) then
        perform prune_documents(days, credential, origin.space_id, moment);
    end if;
end
$$;

comment on function textrawl.create_snapshots is
    'Keep the current versions of all identity files as snapshots. If `days` is given and the caller has the scope '
    'forget, also delete what prune_documents() deletes. Errors: TR010 to TR012 (access). '
    'Example: select id from textrawl.create_snapshots(pinned => true);';
