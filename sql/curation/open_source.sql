create function textrawl.open_source(
    credential bytea, space integer, move boolean, client text, tool text, request text
) returns textrawl.origin
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, case when move then 'forget' else 'read' end, client, tool, request);
begin
    if not may_read(credential, origin.space_id) then
        perform refuse_access(credential, 'read');
    end if;
    return origin;
end
$$;

comment on function textrawl.open_source is
    'Determine the space from which facts are shared. The caller needs read there, and for a move also forget. Errors: '
    'TR010 to TR012 (access), TR060 (the space is a graph).';
