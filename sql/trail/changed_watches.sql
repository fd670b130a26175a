create function textrawl.changed_watches(
    watches jsonb,  -- [{credential, spaces, entity | digest | list, documents, state}]; see the comment of the function
    after xid8 default null
) returns table (
    cursor text,    -- `after` of the next call
    place integer,  -- position of a changed watch in `watches`, from 1; null in the one row of a call without changes
    state text      -- `state` of the watch in the next call
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    -- A transaction gets its number before it commits. All transactions below xmin have ended, so no event is added
    -- below it later. Each call reads the transactions between the last xmin and the present one.
    settled xid8 := pg_snapshot_xmin(pg_current_snapshot());
    -- A number from another cluster means that the database was replaced: compare all states.
    since xid8 := case when changed_watches.after > pg_snapshot_xmax(pg_current_snapshot()) then '0' else changed_watches.after end;
begin
    return query
    with watch as materialized (
        select w.ordinality::integer as place, coalesce(w.credential, '') || ' ' || coalesce(w.spaces::text, '') as reader, w.*
        from rows from (jsonb_to_recordset(watches) as (
            credential text, spaces integer[], entity text, digest text, list boolean, documents boolean, state text
        )) with ordinality w
    ), reader as materialized (
        -- The rights are read anew in each call. A credential that was revoked can read no space.
        select d.reader, r.ids, r.names, coalesce(d.spaces[1], r.home) as home
        from (select distinct on (w.reader) w.reader, w.credential, w.spaces from watch w) d
        cross join lateral (
            select array_agg(s.id order by s.id) as ids, array_agg(s.name order by s.name) as names,
                   max(s.id) filter (where a.home) as home
            from access_rights(decode(d.credential, 'hex')) a join space s on s.id = a.space_id
            where 'read' = any(a.scopes) and s.tier is null and (d.spaces is null or s.id = any(d.spaces))) r
    ), grown as materialized (
        -- Spaces with a new event that can have changed a fact.
        select s.id from (select distinct unnest(r.ids) as id from reader r) s
        where exists (select from event v
                      where v.space_id = s.id and v.transaction >= since and v.transaction < settled
                        and (not v.detail ? 'proposal' or v.action = 'accepted') and v.action not in ('used', 'repeated', 'linked', 'promoted', 'snapshot', 'pinned', 'unpinned'))
    ), wide as materialized (
        -- An import does not name its entities. The removal of an entity also removes relations of other entities.
        select g.id from grown g
        where exists (select from event v
                      where v.space_id = g.id and v.transaction >= since and v.transaction < settled
                        and (v.action = 'imported'
                             or v.action = 'forgotten' and num_nonnulls(v.observation_id, v.relation_id) = 0
                                and v.detail ->> 'relations' <> '0'))
    ), compared as (
        select w.place, w.state as former, found.state, r.ids && array(select wide.id from wide) as changed
        from watch w join reader r on r.reader = w.reader
        cross join lateral (
            select coalesce(md5(string_agg(e.id || ' ' || extract(epoch from e.updated_at), ',' order by e.id)), '') as state
            from find_entities(r.ids, w.entity) f
            join entity e on e.space_id = f.space_id and e.id = f.entity_id) found
        where w.entity is not null and (since is null or r.ids && array(select grown.id from grown))
        union all
        select w.place, w.state, '', s.id in (select grown.id from grown)
        from watch w join reader r on r.reader = w.reader
        join space s on s.name = w.digest and s.id = any(r.ids)
        union all
        select w.place, w.state, md5(r.names::text), coalesce(w.documents, false) and exists (
            select from event v
            where v.space_id = r.home and v.space_id = any(r.ids) and v.transaction >= since and v.transaction < settled
              and (v.detail ->> 'kind' = 'identity' or v.detail ? 'undo' and not v.detail ? 'proposal'))
        from watch w join reader r on r.reader = w.reader
        where w.list and r.ids is not null
    )
    select settled::text, null::integer, null::text
    union all
    select settled::text, c.place, c.state from compared c
    where since is null or coalesce(c.changed, false) or c.state is distinct from coalesce(c.former, '');
end
$$;

comment on function textrawl.changed_watches is
    'The watches whose resource has changed since the cursor of an earlier call. A watch has the name of an entity, the '
    'name of a space in "digest", or "list": true for the list of readable spaces, with "documents": true for identity '
    'files too. It can have a credential (SHA-256 of a token, in hexadecimal digits), the only "spaces" to read (ids), '
    'and its "state". Without a cursor, all watches are returned with their states. A watch never changes if the '
    'credential cannot read. A fact that ends at its "valid_until" has no event, so it changes nothing. '
    'Example: select * from textrawl.changed_watches(''[{"entity": "Jeff"}]'', ''0'');';
