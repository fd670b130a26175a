create function textrawl.named_edge(named text, first boolean) returns text
language sql immutable strict parallel safe
begin atomic
    select case when edge like '%-f%' then textrawl.edge_day(edge, first)::text
        when edge like '%-s%' then to_char(textrawl.edge_day(edge, first), 'YYYY-MM') else edge end
    from (select split_part(ltrim(named, 'ty'), '_', case when first or strpos(named, '_') = 0 then 1 else 2 end) as edge) e;
end;

comment on function textrawl.named_edge is
    'The first or the last year, month or day of a named time, for read_period(). '
    'Example: select textrawl.named_edge(''t2025-s2_2025-s2'', true);';
