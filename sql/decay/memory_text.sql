create function textrawl.memory_text(space integer, memory uuid) returns text
language sql stable parallel safe
begin atomic
    select case when o.whole is null then o.content else (
        select string_agg(p.content, '' order by p.part) from textrawl.observation p
        where p.space_id = o.space_id and p.whole = o.whole and p.entity_id = o.entity_id
          -- The parts of a memory are stored and ended together. A text that was saved again later has its own parts.
          and p.valid_until is not distinct from o.valid_until) end
    from textrawl.observation o where o.space_id = memory_text.space and o.id = memory;
end;

comment on function textrawl.memory_text is
    'The whole text of a memory, with all parts of a long text. Null if there is no such memory. '
    'Example: select textrawl.memory_text(space_id, observation_id) from textrawl.memory_decay;';
