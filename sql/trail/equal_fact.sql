create function textrawl.equal_fact(
    fact textrawl.observation,  -- as it would be, with its entity and its end
    ignored uuid[]              -- facts that are removed at the same time
) returns uuid
language sql stable
begin atomic
    select o.id from textrawl.fact o
    where textrawl.is_valid(fact.valid_from, fact.valid_until, fact.closed_at, present => clock_timestamp())
      and o.space_id = fact.space_id and o.entity_id = fact.entity_id and o.content_hash = fact.content_hash
      and (o.whole, o.part) is not distinct from (fact.whole, fact.part)
      and o.id <> fact.id and o.id <> all(ignored)
      and textrawl.is_repetition(o.valid_from, o.created_at, fact.valid_from, fact.created_at)
      and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
    order by o.created_at, o.id limit 1;
end;

comment on function textrawl.equal_fact is
    'A valid fact with the same text as a fact that an undo would make valid, so that the fact must stay ended. Null if '
    'there is none.';
