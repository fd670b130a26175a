create function textrawl.archive_space(name text, archived boolean default true) returns textrawl.space
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    chosen  integer;
    changed space;
begin
    perform require_owner();
    chosen := find_space(archive_space.name);
    if archived and chosen = default_space() then
        raise exception using errcode = 'TR028', message = 'the first space cannot be archived',
            detail = coalesce(archive_space.name, '');
    end if;
    update space set archived_at = case when archived then coalesce(archived_at, now()) end
    where id = chosen returning * into changed;
    return changed;
end
$$;

comment on function textrawl.archive_space is
    'Close a space to everybody, or open it again with archived => false. The content, grants and tokens of the space '
    'are kept. Errors: TR013 (not the owner), TR020 (no such space), TR028 (the first space cannot be archived). '
    'Example: select textrawl.archive_space(name => ''team'');';
