create function textrawl.register_actors(names text[]) returns void
language sql volatile
begin atomic
    -- Use `do nothing`. `do update` would lock an existing row, and all writes that refer to the actor would wait.
    insert into textrawl.actor (name) select distinct name from unnest(names) as name order by 1
    on conflict (name) do nothing;
end;

comment on function textrawl.register_actors is 'Create the actors that are new.';
