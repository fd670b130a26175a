create function textrawl.refuse_graphs(spaces integer[]) returns void
language plpgsql stable parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    graph text := (select s.name from space s where s.id = any(spaces) and s.tier is not null order by s.name limit 1);
begin
    if graph is not null then
        raise exception using errcode = 'TR060', message = 'the space is a graph, so it holds no facts', detail = graph;
    end if;
end
$$;

comment on function textrawl.refuse_graphs is
    'Raise TR060 if one of these spaces is a graph. Graphs hold sources instead of facts.';
