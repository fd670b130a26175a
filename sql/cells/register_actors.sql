create or replace function textrawl.register_actors(names text[]) returns void
language sql volatile
set search_path from current
begin atomic
    select textrawl_content.register_actors(names);
end;

comment on function textrawl.register_actors is 'Create the actors that are new, on the coordinator.';
