create function textrawl.node_number(id uuid) returns bigint
language sql immutable strict parallel safe
begin atomic
    -- The first 48 bits are all random, because the version digit of the id comes after them. JSON can represent a
    -- number of 48 bits exactly. All ids with the same number form a range, which the primary key can find.
    select ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint;
end;

comment on function textrawl.node_number is
    'The number by which the graph tools name an entity, relation or reflection: the first 48 bits of its id. '
    'Example: select textrawl.node_number(id) from textrawl.entity;';
