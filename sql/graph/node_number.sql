create function textrawl.node_number(id uuid) returns bigint
language sql immutable strict parallel safe
begin atomic
    -- The random digits in front of the one that says which kind of id it is: exact in JSON as well,
    -- and as a range of ids it is served by the primary key.
    select ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint;
end;

comment on function textrawl.node_number is
    'The number by which graph tools name an entity, relation or reflection: the first 48 bits of its id. Example: select textrawl.node_number(id) from textrawl.entity;';
