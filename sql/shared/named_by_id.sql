create function textrawl.named_by_id(spaces integer[], reference text) returns table (space_id integer, entity_id uuid)
language sql stable parallel safe
begin atomic
    select e.space_id, e.id from textrawl.id_span(reference) span
    join textrawl.entity e on e.space_id = any(spaces) and e.id between span.first and span.last
    union
    select o.space_id, o.entity_id from textrawl.id_span(reference) span
    join textrawl.observation o on o.space_id = any(spaces) and o.id between span.first and span.last
    limit 2;
end;

comment on function textrawl.named_by_id is
    'The entity that an id, or its first 8 or more characters, belongs to: the id of the entity itself, of one of its facts '
    'or of a relation that starts there. At most two rows, because two show that the characters are ambiguous. '
    'Example: select entity_id from textrawl.named_by_id(array[1], ''8081eaf7'');';
