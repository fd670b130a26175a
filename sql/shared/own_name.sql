create function textrawl.own_name(name text, stored_type text, given_type text) returns text
language sql immutable parallel safe
begin atomic
    -- A concept can be anything, so this type contradicts no other.
    select name || ' (' || given_type || ')'
    where textrawl.nearest_type(given_type) <> stored_type and given_type is not null
      and 'concept' not in (textrawl.nearest_type(given_type), stored_type);
end;

comment on function textrawl.own_name is
    'If a caller gives another type than the entity of this name has: a name under which the other thing can be stored. '
    'Example: select textrawl.own_name(''Jordan'', ''location'', ''person'');';
