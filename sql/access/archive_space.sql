create function textrawl.archive_space(name text, archived boolean default true) returns textrawl.space
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    chosen integer;
    made   space;
begin
    perform require_owner();
    chosen := find_space(archive_space.name);
    if archived and chosen = default_space() then
        raise exception using errcode = 'TR028', message = 'the first space is there for good', detail = coalesce(archive_space.name, '');
    end if;
    update space set archived_at = case when archived then coalesce(archived_at, now()) end
    where id = chosen returning * into made;
    return made;
end
$$;

comment on function textrawl.archive_space is
    'Closes a space to everybody, keeping what it holds, its grants and tokens; with archived => false opens it again. Errors: TR013 not the owner, TR020 no such space, TR028 the first space. Example: select textrawl.archive_space(name => ''team'');';
