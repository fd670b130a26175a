create function textrawl.own_name(name text, stored_type text, given_type text) returns text
language sql immutable parallel safe
begin atomic
    -- A concept can be anything, so it contradicts no other type. Call nearest_type() last: it is slow.
    select case when given_type <> stored_type and stored_type <> 'concept'
                     and textrawl.nearest_type(given_type) not in (stored_type, 'concept')
        then name || ' (' || given_type || ')' end;
end;

comment on function textrawl.own_name is
    'If a caller gives another type than the entity of this name has: a name under which the other thing can be stored. '
    'Example: select textrawl.own_name(''Jordan'', ''location'', ''person'');';
