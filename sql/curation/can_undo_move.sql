create function textrawl.can_undo_move(
    spaces integer[],  -- the spaces that are undone together
    action text, detail jsonb, copy uuid
) returns boolean
language sql stable
begin atomic
    select exists (
        select from textrawl.undo m
        where m.space_id = any(spaces) and m.id = (detail ->> 'move')::bigint
          and m.moved_to = any(spaces) and m.purged_at is null
          and (action = 'transferred' or exists (
              -- If the source was undone first, the row is no longer kept by the move but by the undo.
              select from textrawl.undone d
              where d.after ? 'copy' and d.after ->> 'copy' = copy::text and d.space_id = m.space_id
                and (d.undo_id = m.id or d.before -> 'move' = detail -> 'move'))));
end;

comment on function textrawl.can_undo_move is
    'True if an event of a move can be undone: both spaces are undone together, and the source still keeps the row of '
    'this copy. Otherwise an undo would lose the row, or there would be two.';
