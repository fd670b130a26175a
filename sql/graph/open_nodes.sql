create function textrawl.open_nodes(
    names text[], skip bigint default 0, max_rows integer default 200, max_text integer default 1000000,
    space integer default null, credential bytea default null
) returns table (
    number bigint, part bigint, kind text, name text, entity_type text, content text,
    from_entity text, relation text, to_entity text, relation_number bigint
)
language plpgsql stable security definer rows 200
set search_path from current
as $$
#variable_conflict use_column
declare
    home integer := graph_space(credential, space);
begin
    return query
        select p.* from graph_parts(home, array(
            select e.id from (
                select entity_key(home, n) as key, min(o) as turn from unnest(names) with ordinality input(n, o) group by 1) wanted
            join entity e on e.space_id = home and e.name_key = wanted.key
            order by wanted.turn), skip, max_rows, max_text, false) p;
end
$$;

comment on function textrawl.open_nodes is
    'The entities with the given names, in the given order, with their facts and all their relations. Unknown names '
    'are skipped. Errors: TR010, TR011 (access). '
    'Example: select name, kind, content from textrawl.open_nodes(array[''Ada'']);';
