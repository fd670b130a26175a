create function textrawl.read_events(
    after_transaction xid8 default '0', after_id bigint default 0, max_rows integer default 500,
    space integer default null, credential bytea default null
) returns table (
    cursor text,       -- transaction:id, from which the next call starts
    at timestamptz, space_name text, author_name text, client text, tool text, request text, action text,
    entity_name text,  -- of a document: its path; of a proposal: the entity that it names; null if the entity was removed
    entity_id uuid, observation_id uuid, relation_id uuid,
    other_name text    -- of a relation: the entity it leads to
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces integer[] := administered_spaces(credential, read_events.space);
begin
    perform settle_events(spaces);
    -- A transaction gets the ids of its events before it commits, so ids become visible out of order. A reader in the
    -- order of ids would miss late events. So read in the order of transactions, and only transactions below xmin.
    -- These transactions have all ended and cannot add events. A later call returns the events of the other
    -- transactions. A cursor from another cluster counts as transaction 0, like all events that were restored from that
    -- cluster.
    return query
        select v.transaction || ':' || v.id, v.at, s.name, a.name, v.client, v.tool, v.request, v.action,
            coalesce(e.name, v.detail ->> 'path', p.entity_name), v.entity_id, v.observation_id, v.relation_id, coalesce(o.name, p.to_name)
        from event v
        join space s on s.id = v.space_id
        join actor a on a.id = v.actor_id
        left join entity e on e.space_id = v.space_id and e.id = v.entity_id
        left join entity o on o.space_id = v.space_id and v.relation_id is not null and o.id = (v.detail ->> 'to')::uuid
        left join proposal p on p.space_id = v.space_id and p.id = (v.detail ->> 'proposal')::uuid
        where v.space_id = any(spaces) and v.transaction < pg_snapshot_xmin(pg_current_snapshot())
          and (v.transaction, v.id) > (
              case when after_transaction > pg_snapshot_xmax(pg_current_snapshot()) then '0'::xid8 else after_transaction end,
              after_id)
        order by v.transaction, v.id
        limit max_rows;
end
$$;

comment on function textrawl.read_events is
    'Read the trail after a cursor (transaction:id), in an order in which no event is inserted later. An event is '
    'returned only after all older transactions have ended. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.read_events(''0'', 0);';
