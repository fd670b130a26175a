create function textrawl.claim_import(system text, origin textrawl.origin, command text, folder jsonb) returns uuid
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    found_id uuid;
begin
    select r.id into found_id from import_run r
    where r.space_id = origin.space_id and r.system = claim_import.system and r.author_id = origin.author_id
      and r.finished_at is null
      and (r.folder is null or r.folder ->> 'prefix' is not distinct from claim_import.folder ->> 'prefix')
    order by r.started_at desc limit 1 for update;
    if not found then
        insert into import_run (space_id, id, system, author_id)
        values (origin.space_id, coalesce(overlay(gen_random_uuid()::text placing left(command, 8) from 1)::uuid, gen_random_uuid()),
                claim_import.system, origin.author_id)
        returning id into found_id;
    end if;
    -- Also of former runs, because a folder can move.
    update import_run r set folder = claim_import.folder
    where r.space_id = origin.space_id and r.system = claim_import.system
      and (r.id = found_id or r.folder ->> 'prefix' = claim_import.folder ->> 'prefix')
      and r.folder is distinct from claim_import.folder;
    return found_id;
end
$$;

comment on function textrawl.claim_import is
    'The id of a run of an import: of the interrupted run of the same actor and folder, or else of a new run. The id of a '
    'new run begins with `command`, 8 hexadecimal digits. All runs of one command have the same, so an undo finds them '
    'together. All runs of the folder get its present root.';
