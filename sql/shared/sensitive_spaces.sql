create function textrawl.sensitive_spaces() returns integer[]
language sql stable parallel safe
begin atomic
    select coalesce(array_agg(s.id order by s.id), '{}') from textrawl.space s where s.tier = 'sensitive';
end;

comment on function textrawl.sensitive_spaces is
    'The sensitive graphs. Servers do not search them, and no text of them is sent to an embedding provider.';
