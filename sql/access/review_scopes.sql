create function textrawl.review_scopes(scopes text[], reviewed boolean) returns text[]
language sql immutable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it.
    select case when reviewed and 'write' = any(scopes) and not 'review' = any(scopes)
        then array_remove(array_remove(scopes, 'write'), 'propose') || 'propose'::text else scopes end;
end;

comment on function textrawl.review_scopes is
    'The scopes of a caller in a space. In a reviewed space, write becomes propose, unless the caller also has review. '
    'Example: select textrawl.review_scopes(array[''read'', ''write''], true);';
