create function textrawl.present_begin(space integer, entity uuid, start timestamptz, moment timestamptz) returns timestamptz
language sql stable
begin atomic
    -- If the clock went back, what had begun seems to begin in the future. Then something was stored at this begin or
    -- later. What nothing was stored after is planned.
    select case when start > moment and exists (
        select from textrawl.observation o
        where o.space_id = present_begin.space and o.entity_id = present_begin.entity and o.created_at >= start)
        then moment else start end;
end;

comment on function textrawl.present_begin is
    'The begin of a fact or relation of an entity by the present clock: the moment, if it had begun by a clock that was '
    'ahead. What corrects such a fact begins no later than now. '
    'Example: select textrawl.present_begin(f.space_id, f.entity_id, f.valid_from, now()) from textrawl.fact f;';
