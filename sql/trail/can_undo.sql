create function textrawl.can_undo(action text) returns boolean
language sql immutable parallel safe
begin atomic
    select action in ('created', 'remembered', 'repeated', 'updated', 'replaced', 'related', 'forgotten',
                      'retyped', 'ended', 'moved', 'reflected', 'faded', 'described',
                      'written', 'deleted', 'erased', 'revised', 'named', 'unnamed', 'merged', 'split',
                      'proposed', 'accepted', 'rejected', 'shared', 'transferred', 'dismissed');
end;

comment on function textrawl.can_undo is
    'True if an undo considers events with this action. Example: select textrawl.can_undo(''imported'');';
