create function textrawl.graph_space(credential bytea default null, space integer default null) returns integer
language sql stable security definer
set search_path from current
begin atomic
    select (textrawl.readable_spaces(credential, case when space is not null then array[space] end))[1];
end;

comment on function textrawl.graph_space is
    'The one space that the graph and decay tools read: the given space, otherwise the home space of the credential, otherwise '
    'the first readable space. Errors: TR010, TR011 (access).';
