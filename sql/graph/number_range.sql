create function textrawl.number_range(number bigint, out first uuid, out last uuid)
language sql immutable strict parallel safe
begin atomic
    select (lpad(to_hex(number), 12, '0') || repeat('0', 20))::uuid, (lpad(to_hex(number), 12, '0') || repeat('f', 20))::uuid
    where number between 0 and (1::bigint << 48) - 1;
end;

comment on function textrawl.number_range is
    'The first and the last id that have this node_number().';
