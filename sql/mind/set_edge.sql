create function textrawl.set_edge(space integer, relation uuid, fields jsonb) returns void
language sql volatile
begin atomic
    update textrawl.relation r
    set strength = (fields ->> 'strength')::real, valid_from = coalesce((fields ->> 'valid_from')::timestamptz, r.valid_from),
        valid_until = (fields ->> 'valid_until')::timestamptz,
        closed_at = case when r.closed_at = (fields ->> 'valid_until')::timestamptz then r.closed_at
                         else textrawl.past_end((fields ->> 'valid_until')::timestamptz) end
    where r.space_id = set_edge.space and r.id = set_edge.relation
      and (r.strength, r.valid_from, r.valid_until)
          is distinct from ((fields ->> 'strength')::real, coalesce((fields ->> 'valid_from')::timestamptz, r.valid_from),
                            (fields ->> 'valid_until')::timestamptz);
    insert into textrawl.graph_edge select * from jsonb_populate_record(null::textrawl.graph_edge, fields)
    on conflict (space_id, relation_id) do update set
        evidence = excluded.evidence, properties = excluded.properties, instance = excluded.instance,
        occurred_at = excluded.occurred_at, last_confirmed_at = excluded.last_confirmed_at,
        version = excluded.version, deleted_at = excluded.deleted_at;
end;

comment on function textrawl.set_edge is
    'Store all values of an edge, in the form of edge_values().';
