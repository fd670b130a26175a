create function textrawl.pin_fault(space integer, fact uuid) returns text
language sql stable
begin atomic
    select case
        when exists (select from textrawl.pinned_facts(array[space]) p where pin_fault.fact in (p.observation_id, p.pinned)) then 'pinned'
        when c.id is null or c.part > 1 or char_length(c.content) > 200
            or not textrawl.is_valid(c.valid_from, c.valid_until, c.closed_at, present => clock_timestamp()) then 'gone'
        when (select count(*) >= 12 or sum(octet_length(f.content)) + octet_length(c.content) > 2400  -- some 600 tokens
              from textrawl.pinned_facts(array[space]) p
              join textrawl.fact f on f.space_id = p.space_id and f.id = p.observation_id
              where f.repository is not distinct from c.repository and textrawl.is_valid(f.valid_from, f.valid_until, f.closed_at)) then 'full' end
    from (select pin_fault.fact as id) given left join textrawl.fact c on c.space_id = space and c.id = given.id;
end;

comment on function textrawl.pin_fault is
    'Why a fact cannot be pinned: pinned (it is, or the fact that it replaces), gone (it has ended, or is longer than 200 '
    'characters), or full (its space or repository has twelve pins, or 2,400 bytes). Null: it can.';
