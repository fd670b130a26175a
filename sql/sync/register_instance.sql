create function textrawl.register_instance(
    instance text, instance_type text default null, name text default null, version text default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out first_seen timestamptz
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    insert into instance as i (space_id, id, instance_type, name, version, last_sync)
    values (origin.space_id, register_instance.instance, coalesce(register_instance.instance_type, 'other'),
            register_instance.name, register_instance.version, moment)
    on conflict (space_id, id) do update
    set instance_type = coalesce(register_instance.instance_type, i.instance_type),
        name = coalesce(excluded.name, i.name), version = coalesce(excluded.version, i.version), last_sync = excluded.last_sync
    returning i.created_at into first_seen;
end
$$;

comment on function textrawl.register_instance is
    'Store when an instance synchronized last, which is now, and what it says about itself. Errors: TR010 to TR012 '
    '(access). '
    'Example: select first_seen from textrawl.register_instance(''laptop'', ''claude-code'');';
