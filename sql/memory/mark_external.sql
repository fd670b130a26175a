create function textrawl.mark_external(space integer, shown jsonb) returns jsonb
language sql stable
begin atomic
    select case when exists (
            select from textrawl.fact o
            where o.space_id = space and o.id = (shown ->> 'id')::uuid and textrawl.find_origin(o.origin, o.tool, o.client, o.source) = 'external')
        then shown || jsonb_build_object('content', 'external: ' || (shown ->> 'content')) else shown end;
end;

comment on function textrawl.mark_external is
    'A fact {id, content} that a reply shows beside a new fact, with external: before its text if it is external.';
