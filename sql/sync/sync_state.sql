create function textrawl.sync_state(credential bytea default null, space integer default null)
returns table (
    server_version bigint,
    instances jsonb  -- [{id, type, name, version, last_sync}]
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home integer := graph_space(credential, space);
begin
    return query
    select coalesce((select c.version from document_clock c where c.space_id = home), 0),
        coalesce((
            select jsonb_agg(jsonb_build_object('id', i.id, 'type', i.instance_type, 'name', i.name, 'version', i.version,
                                                'last_sync', i.last_sync) order by i.last_sync desc nulls last, i.id)
            from instance i where i.space_id = home), '[]');
end
$$;

comment on function textrawl.sync_state is
    'The number of the last change of the documents of a space, and the instances that share the documents. Errors: '
    'TR010, TR011 (access). '
    'Example: select server_version from textrawl.sync_state();';
