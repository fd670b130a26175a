create function textrawl.require_pin(space integer, fact uuid) returns boolean
language plpgsql volatile
set search_path from current
as $$
declare
    fault text;
begin
    perform from space s where s.id = require_pin.space for no key update;  -- pins of one space are counted in turn
    fault := pin_fault(require_pin.space, require_pin.fact);
    if fault = 'gone' then
        raise exception using errcode = 'TR114', message = 'only a short valid fact can be pinned', detail = coalesce(
            (select left(f.content, 40) from fact f where f.space_id = require_pin.space and f.id = require_pin.fact), '');
    elsif fault = 'full' then
        raise exception using errcode = 'TR115', message = 'too much is pinned';
    end if;
    return fault is null;
end
$$;

comment on function textrawl.require_pin is
    'True if a fact can be pinned, false if it is. The space is locked until the transaction ends. Errors: TR114 (the fact is '
    'over or too long), TR115 (no more facts can be pinned).';
