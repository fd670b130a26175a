create function textrawl.graph_signal(content text, names text[]) returns double precision
language sql immutable parallel safe
begin atomic
    -- First look for the name with strpos(), because names_entity() takes much longer.
    select least(1, count(*) / ln(count(*) + 2))::double precision
    from (select lower(graph_signal.content) as text offset 0) lower_case cross join unnest(names) name
    where strpos(text, lower(name)) > 0 and textrawl.names_entity(graph_signal.content, name);
end;

comment on function textrawl.graph_signal is
    'A number for how many of the given entities a text names: 0 for none, 0.91 for one, 1 for several. '
    'Example: select textrawl.graph_signal(''Tea with Ben'', array[''Ben'', ''Ada'']);';
