-- Periods: a fact is valid from the day on which it began, not from the time at which it was stored.

alter table observation add column confirmed_at timestamptz check (isfinite(confirmed_at));
comment on column observation.valid_from is 'The fact is valid from this instant on: the given begin, or else the time when it was said.';
comment on column observation.valid_until is 'The fact is not valid from this instant on. It equals valid_from if the fact was never valid. Null: the fact has not ended.';
comment on column observation.created_at is 'When the fact was stored: from then on the memory knows it.';
comment on column observation.confirmed_at is 'When somebody last stored the same text again. Null: nobody did.';
comment on column relation.valid_from is 'The relation is valid from this instant on: the given begin, or else the time when it was stored.';
comment on column relation.created_at is 'When the relation was stored: from then on the memory knows it.';
alter table proposal add column valid_from timestamptz check (isfinite(valid_from));
comment on column proposal.valid_from is 'Begin of the fact or relation. Null: not given.';
alter type new_fact add attribute valid_from timestamptz;
comment on column new_fact.valid_from is 'The fact is valid from this instant on. Null: not given.';

-- Facts began when they were stored, so the begins of facts that were said earlier are moved back. A wrong fact stays
-- valid at no time.
update observation set valid_from = said_at, valid_until = case when valid_until = valid_from then said_at else valid_until end
where relation_id is null and said_at < valid_from;
-- A replaced fact ended when its successor was stored. It ends when its successor begins, if that is later than its own
-- begin.
update observation o set valid_until = n.valid_from, closed_at = n.valid_from
from observation n
where n.space_id = o.space_id and n.id = o.replaced_by and o.relation_id is null
  and o.valid_until = o.closed_at and o.valid_until = n.created_at and n.valid_from < o.valid_until and n.valid_from > o.valid_from;
-- A revert restores these facts.
update undone u set before = u.before || jsonb_build_object('valid_from', u.before -> 'said_at')
    || case when u.before ->> 'valid_until' = u.before ->> 'valid_from'
            then jsonb_build_object('valid_until', u.before -> 'said_at') else '{}' end
where u.kind = 'observation' and u.action = 'remove'
  and (u.before ->> 'said_at')::timestamptz < (u.before ->> 'valid_from')::timestamptz;

create or replace function update_statements() returns trigger
language plpgsql
set search_path from current
as $$
begin
    update observation o
    set valid_from = r.valid_from, valid_until = r.valid_until, closed_at = r.closed_at, author_id = r.author_id,
        client = r.client, tool = r.tool, request = r.request
    from changed r
    where o.space_id = r.space_id and o.relation_id = r.id
      and (o.valid_from, o.valid_until, o.closed_at, o.author_id, o.client, o.tool, o.request)
          is distinct from (r.valid_from, r.valid_until, r.closed_at, r.author_id, r.client, r.tool, r.request);
    return null;
end
$$;
comment on function update_statements is 'Set the period and the author of statements to those of their relations.';
