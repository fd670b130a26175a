create function textrawl.readable_spaces(
    credential bytea default null, spaces integer[] default null,
    graphs boolean default false  -- true: return graphs, too
) returns integer[]
language plpgsql stable parallel safe security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    readable integer[];
begin
    select array_agg(r.space_id order by r.home desc, r.space_id) into readable
    from access_rights(credential) r where 'read' = any(r.scopes);
    if credential is not null and readable is null then
        perform refuse_access(credential, 'read');
    elsif not spaces <@ coalesce(readable, '{}') then
        perform refuse_access(credential, 'read');
    end if;
    if not graphs then
        perform refuse_graphs(spaces);
        readable := array(
            select place from unnest(readable) with ordinality r (place, rank) join space s on s.id = place
            where s.tier is null order by rank);
    end if;
    return coalesce(spaces, readable, '{}');
end
$$;

comment on function textrawl.readable_spaces is
    'The spaces with facts that a credential or this session can read, home space first. If spaces are given, only '
    'these spaces are checked and returned. Errors: TR010 (unknown credential), TR011 (not allowed), TR060 (a given '
    'space is a graph). '
    'Example: select textrawl.readable_spaces();';
