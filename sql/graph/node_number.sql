create function textrawl.node_number(id uuid) returns bigint
language sql immutable strict parallel safe
begin atomic
    -- These 48 bits come before the digit with the version of the id. They are exact in JSON, and the primary key can
    -- serve them as a range of ids.
    select ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint;
end;

comment on function textrawl.node_number is
    'The number by which graph tools name an entity, relation or reflection: the first 48 bits of its id. '
    'Example: select textrawl.node_number(id) from textrawl.entity;';
