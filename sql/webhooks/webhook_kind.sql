create function textrawl.webhook_kind(action text) returns text
language sql immutable parallel safe
begin atomic
    select case
        when action = 'proposed' then 'proposed'
        when action in ('accepted', 'rejected', 'expired') then 'decided'
        when action in ('forgotten', 'deleted', 'erased', 'discarded', 'destroyed') then 'forgotten'
        when action in ('undone', 'restored') then 'undone'
        when action not in ('used', 'repeated', 'snapshot', 'pinned', 'unpinned', 'summarized', 'keyed') then 'stored' end;
end;

comment on function textrawl.webhook_kind is
    'The kind of event that webhooks know for an action of the trail: stored, proposed, decided, forgotten or undone. '
    'Null: the action changes nothing that a receiver could want. '
    'Example: select textrawl.webhook_kind(''remembered'');';
