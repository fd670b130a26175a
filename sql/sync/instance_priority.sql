create function textrawl.instance_priority(instance_type text) returns integer
language sql immutable parallel safe
begin atomic
    select case instance_type when 'sby' then 3 when 'psycheros' then 3 when 'claude-code' then 2 when 'sillytavern' then 1 else 0 end;
end;

comment on function textrawl.instance_priority is
    'The priority of an instance. If two instances changed a document and both texts have the same time, the text of the '
    'instance with the higher priority becomes the current version.';
