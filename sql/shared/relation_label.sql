create function textrawl.relation_label(relation text) returns text
language sql immutable parallel safe
begin atomic
    -- The function is not strict, so that the planner can inline it. Most relations have this form already.
    select case when relation ~ '^(?:[a-z0-9_]+|[^-_\s\u2010-\u2013]*[a-z][A-Z][^-_\s\u2010-\u2013]*)$' then relation
        else replace(textrawl.name_key(relation), ' ', '_') end;
end;

comment on function textrawl.relation_label is
    'The form in which a relation type is shown: with _ instead of white space, and in lower case unless it is in camel case. '
    'Example: select textrawl.relation_label(''Works at'');';
