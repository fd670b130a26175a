-- Who told a fact: a person, an agent, or something that is neither.
alter table observation add column origin text check (origin in ('said', 'inferred', 'external'));
comment on column observation.origin is 'said: a person typed or accepted it. inferred: an agent concluded it. external: a page, a tool, a file or an import said it. Null: find_origin() says it, of facts that are older than 0037.';

-- The call that writes a row decides its origin, whatever function stores it.
create function note_origin() returns trigger
language plpgsql
set search_path from current
as $$
begin
    new.origin := case when tg_op = 'INSERT' then find_origin(null, new.tool, new.client, new.source)
        when (new.tool, new.client) is distinct from (old.tool, old.client) then least(
            find_origin(old.origin, old.tool, old.client, old.source), find_origin(null, new.tool, new.client, new.source))
        else find_origin(old.origin, old.tool, old.client, old.source) end;
    return new;
end
$$;
comment on function note_origin is 'Give a new fact the origin of its call. A changed fact keeps its origin, or gets the lesser one of another call.';

create trigger fact_has_origin before insert on observation
for each row when (new.origin is null) execute function note_origin();
create trigger fact_keeps_origin before update of source, client, tool on observation
-- A restored dump has the same definition, which a comparison of rows would not have.
for each row when (new.origin is not distinct from old.origin and (
    new.source is distinct from old.source or new.client is distinct from old.client or new.tool is distinct from old.tool))
execute function note_origin();
