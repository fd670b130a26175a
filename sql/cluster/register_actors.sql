create or replace function textrawl_content.register_actors(names text[]) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    missing text[] := array(
        select distinct given from unnest(names) as given
        where given is not null and not exists (select from textrawl.actor a where a.name = given) order by 1);
    answer  record;
begin
    if missing = '{}' then
        return;
    end if;
    -- Only a superuser can send a command. The owner of the memory runs it, so that it has no further rights.
    select * into answer from run_command_on_coordinator(
        format('with owner as materialized (select set_config(''role'', %L, true)) select textrawl.register_actors(%L) from owner',
               (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'textrawl'), missing),
        give_warning_for_connection_errors => true);
    -- The coordinator has committed, and this node copies the new actors within milliseconds.
    for attempt in 1..500 loop
        exit when not answer.success;
        if not exists (
            select from unnest(missing) as given where not exists (select from textrawl.actor a where a.name = given)) then
            return;
        end if;
        perform pg_sleep(0.01);
    end loop;
    raise exception using errcode = 'TR097', message = 'the coordinator does not register new actors now';
end
$$;

comment on function textrawl_content.register_actors is
    'Create the actors that are new on the coordinator, and wait until this node has copied them. '
    'Error TR097: the coordinator cannot be reached, or the copy of its directory is late.';
