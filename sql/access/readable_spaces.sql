create function textrawl.readable_spaces(
    credential bytea default null, spaces integer[] default null,
    graphs boolean default false  -- true: return graphs, too
) returns integer[]
language plpgsql stable parallel safe security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    readable   integer[];
    with_facts integer[];
begin
    select array_agg(r.space_id order by r.home desc, r.space_id),
        array_agg(r.space_id order by r.home desc, r.space_id) filter (where s.tier is null)
    into readable, with_facts
    from access_rights(credential) r join space s on s.id = r.space_id where 'read' = any(r.scopes);
    if credential is not null and readable is null then
        perform refuse_access(credential, 'read');
    elsif not spaces <@ coalesce(readable, '{}') then
        perform refuse_access(credential, 'read');
    elsif not graphs and not spaces <@ coalesce(with_facts, '{}') then
        perform refuse_graphs(spaces);
    end if;
    return coalesce(spaces, case when graphs then readable else with_facts end, '{}');
end
$$;

comment on function textrawl.readable_spaces is
    'The spaces with facts that a credential or this session can read, home space first. If spaces are given, only '
    'these spaces are checked and returned. Errors: TR010 (unknown credential), TR011 (not allowed), TR060 (a given '
    'space is a graph). '
    'Example: select textrawl.readable_spaces();';
