create function textrawl.read_graph(
    beginning bigint default null, skip bigint default 0, max_rows integer default 200, max_text integer default 1000000,
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
    home  integer := graph_space(credential, space);
    start entity;
begin
    if beginning is not null then
        select e.* into start from number_range(beginning) range
        join entity e on e.space_id = home and e.id between range.first and range.last
        order by e.id limit 1;
        if start.id is null then
            raise exception using errcode = 'TR051', message = 'the entity to continue from was deleted';
        end if;
    end if;
    return query
        select p.* from graph_parts(home, array(
            select e.id from local_entities() e
            where e.space_id = home and (start.id is null or (e.created_at, e.id) >= (start.created_at, start.id))
            order by e.created_at, e.id limit max_rows), skip, max_rows, max_text, true) p;
end
$$;

comment on function textrawl.read_graph is
    'The graph of one space in the order in which it was stored: each entity with its facts and outgoing relations. '
    'If "beginning" is given, the result starts at the entity with this number. Errors: TR051 (that entity was '
    'deleted), TR010, TR011 (access). '
    'Example: select name, kind, content, relation, to_entity from textrawl.read_graph();';
