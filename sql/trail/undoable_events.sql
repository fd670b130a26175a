create function textrawl.undoable_events(space integer, taken bigint[]) returns bigint[]
language sql stable
begin atomic
    select coalesce(array_agg(t.id order by t.id), '{}') from unnest(taken) t (id)
    where t.id not in (select k.event_id from textrawl.find_kept(space, taken) k);
end;

comment on function textrawl.undoable_events is 'The events among those of an undo that it takes back: all but those of find_kept().';
