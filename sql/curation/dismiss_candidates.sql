create function textrawl.dismiss_candidates(
    kind text,   -- same (two entities are not one), close (two facts may both stay) or stale (facts are still true)
    ids uuid[],  -- of the two entities or facts; stale: of any number of facts
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out dismissed integer  -- number of candidates that nobody had dismissed before
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    chosen uuid[] := array(select distinct id from unnest(ids) id order by id);
    owners uuid[];  -- the entity of each
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    owners := array(
        select coalesce(e.id, o.entity_id)
        from unnest(chosen) c (id)
        left join entity e on dismiss_candidates.kind = 'same' and e.space_id = origin.space_id and e.id = c.id
        left join fact o on dismiss_candidates.kind <> 'same' and o.space_id = origin.space_id and o.id = c.id
        order by c.id);
    if array_position(owners, null) is not null or not coalesce(case dismiss_candidates.kind
           when 'same' then cardinality(chosen) = 2
           when 'close' then cardinality(chosen) = 2 and owners[1] = owners[2]
           when 'stale' then cardinality(chosen) > 0 end, false) then
        raise exception using errcode = 'TR113', message = 'no such candidate', detail = dismiss_candidates.kind;
    end if;
    -- A deletion of the entity waits, and then deletes this row too.
    perform from entity e where e.space_id = origin.space_id and e.id = any(owners) order by e.name_key for no key update;
    select count(record_dismissal(dismiss_candidates.kind, c.id, case dismiss_candidates.kind when 'stale' then c.id else chosen[2] end, origin))
    into dismissed
    from unnest(case dismiss_candidates.kind when 'stale' then chosen else chosen[:1] end) c (id);
end
$$;

comment on function textrawl.dismiss_candidates is
    'Decide that two entities are not the same, that two facts do not contradict or repeat each other, or that facts are '
    'still true, all of them or none. find_same_entities(), conflicting_facts(), near_facts() and memory_stale then leave '
    'the candidates out, until an undo. Needs the scopes read and write. Errors: TR010 to TR012 (access), TR113 (no such '
    'entities or facts). '
    'Example: select textrawl.dismiss_candidates(''stale'', array_agg(id)) from textrawl.memory_stale;';
