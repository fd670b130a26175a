create function textrawl.finding_fault(space integer, kind text, one uuid, other uuid) returns text
language sql stable
begin atomic
    select case
        when kind = 'pin' then nullif(textrawl.pin_fault(space, one), 'full')
        when kind = 'merge' and (
            one = other
            or (select count(*) from textrawl.entity e where e.space_id = space and e.id in (one, other)) < 2
            or exists (select from textrawl.document d where d.space_id = space and d.entity_id in (one, other)))
        -- Both facts must be valid, so that never both of them end.
        or kind <> 'merge' and (
            select count(*) from textrawl.observation o
            where o.space_id = space and o.id in (one, case when kind = 'end' then other end)
              and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
        ) < case when kind = 'end' and other is not null then 2 else 1 end then 'gone' end;
end;

comment on function textrawl.finding_fault is
    'gone if a finding can no longer be accepted, because one of its facts has ended or one of its entities is gone, or '
    'pinned if the fact to pin is. Null: it can be accepted. Example: select id from textrawl.proposal p where textrawl.finding_fault(p.space_id, p.kind, p.one, p.other) is null;';
