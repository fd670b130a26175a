create function textrawl.space_policy(space integer) returns textrawl.decay_policy
language sql stable security definer
set search_path from current
begin atomic
    select jsonb_populate_record(textrawl.default_policy(), coalesce(
        (select jsonb_strip_nulls(to_jsonb(p)) from textrawl.decay_policy p where p.space_id = space_policy.space), '{}'));
end;

comment on function textrawl.space_policy is
    'The policy by which the memories of a space fade, complete with defaults. '
    'Example: select (textrawl.space_policy(1)).model;';
