create function textrawl.tidy_memory(
    dry_run boolean default false,  -- true: only list what would be proposed
    most integer default 200,       -- of each kind of finding, from 1 to 1,000
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    changes jsonb default null  -- only facts whose anchors have changed: {id: what changed}
) returns table (
    finding text,
    proposal_id uuid,  -- null if dry_run
    entity_name text,
    content text,      -- the fact that would end, or what would be stored
    evidence text
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin  origin := open_write(
        credential, space, case when dry_run then 'read' else 'write' end, client, tool, request, proposing => not dry_run);
    merging uuid[];  -- entities of merges that wait
    ending  uuid[];  -- facts that are to end, or to stay in place of one
    owners  uuid[];  -- entities of these facts
    item    record;
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    perform set_config('textrawl.repository', '', true);  -- it looks into all repositories
    if not coalesce(most between 1 and 1000, false) then
        raise exception using errcode = 'TR009', message = 'most is from 1 to 1000';
    end if;
    select coalesce(array_agg(f) filter (where p.kind = 'merge'), '{}'), coalesce(array_agg(f) filter (where p.kind = 'end'), '{}'),
        coalesce(array_agg(o.entity_id), '{}')
    into merging, ending, owners
    from proposal p cross join unnest(array[p.one, p.other]) f left join fact o on o.space_id = p.space_id and o.id = f
    where p.space_id = origin.space_id and p.kind in ('merge', 'end') and p.decision is null
      and finding_fault(p.space_id, p.kind, p.one, p.other) is null;
    for item in
        select f.*, e.name, e.name_key, t.name as to_name, array[e.id, t.id, p.entity_id] as entities, coalesce(o.content, 'is the same as ' || t.name) as said
        from list_findings(origin.space_id, most, credential, changes) with ordinality f
        left join fact o on o.space_id = origin.space_id and o.id = f.one
        join entity e on e.space_id = origin.space_id and e.id = coalesce(o.entity_id, f.one)
        left join fact p on p.space_id = origin.space_id and p.id = f.other
        left join entity t on t.space_id = origin.space_id and t.id = f.other
        where not exists (
            select from proposal p
            where p.space_id = origin.space_id and p.finding = f.finding and p.decision is distinct from 'withdrawn'
              and (f.finding <> 'anchor' or p.decision is null or p.evidence = f.evidence)
              and least(p.one, p.other) = least(f.one, f.other) and greatest(p.one, p.other) = greatest(f.one, f.other))
        order by f.ordinality
    loop
        -- What two findings change is decided one after the other, so all that wait can be accepted at once.
        if item.kind = 'merge' then
            continue when array[item.one, item.other] && (merging || owners);
            merging := merging || array[item.one, item.other];
        else
            continue when item.entities && merging or item.one = any(ending) or item.kind = 'end' and item.other = any(ending);
            if item.kind = 'end' then
                ending := ending || item.one || item.other;
                owners := owners || item.entities;
            end if;
        end if;
        finding := item.finding; entity_name := item.name; evidence := item.evidence;
        content := case item.kind when 'relation' then statement_text(item.relation_type, item.to_name) else item.said end;
        proposal_id := null;
        if not dry_run then
            proposal_id := propose_finding(to_jsonb(item), origin);
            continue when proposal_id is null;  -- Another run was faster.
        end if;
        return next;
    end loop;
end
$$;

comment on function textrawl.tidy_memory is
    'Propose to a reviewer what list_findings() finds in a space. Nothing else changes. A second call finds nothing new, '
    'and what was rejected or dismissed is not proposed again, unless its file changes again. Accepting a proposal merges the entities, ends the fact or '
    'stores the relation, and undo_event() takes that back. Needs the scopes read and propose or write, a dry run only '
    'read. Errors: TR009 (most), TR010 to TR012 (access). '
    'Example: select finding, entity_name, content, evidence from textrawl.tidy_memory(dry_run => true);';
