create function textrawl.is_fact_id(reference text) returns boolean
language sql immutable parallel safe
begin atomic
    -- Require eight hexadecimal digits, because the text of a fact is unlikely to look like this. The function is not
    -- strict and does not set options, so that the planner can inline it.
    select reference ~* '^[0-9a-f]{8}[0-9a-f-]{0,28}$';
end;

comment on function textrawl.is_fact_id is
    'True for the id of a fact and for the first 8 or more characters of an id; false for the text of a fact. '
    'Example: select textrawl.is_fact_id(''0b5c9e1f'');';
