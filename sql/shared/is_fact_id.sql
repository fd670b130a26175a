create function textrawl.is_fact_id(reference text) returns boolean
language sql immutable parallel safe
begin atomic
    -- Eight characters: the text of a fact hardly ever looks like that by chance.
    -- Neither strict nor with settings: only then does the planner put the expression in place of the call.
    select reference ~* '^[0-9a-f]{8}[0-9a-f-]{0,28}$';
end;

comment on function textrawl.is_fact_id is
    'True for an id of a fact and for the first 8 or more characters of one, false for the text of a fact. Example: select textrawl.is_fact_id(''0b5c9e1f'');';
