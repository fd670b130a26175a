create function textrawl.count_erasure(
    space integer, names text[], entities uuid[], actors integer[], keep text,
    before timestamptz default null,
    out number bigint, out rows jsonb, out counts jsonb, out fingerprint text
)
language sql stable
begin atomic
    with target as materialized (
        select t.kind || case when t.redacted then ' redacted' else '' end as kind, t.key, t.own
        from textrawl.erasure_rows(space, textrawl.person_pattern(names), entities, actors, keep, before) t
    )
    select (select count(*) from target),
        coalesce((select jsonb_object_agg(g.kind, g.keys) from (
            select t.kind, jsonb_agg(t.key order by t.key) as keys from target t group by t.kind) g), '{}'),
        coalesce((select jsonb_object_agg(g.kind, g.counts) from (
            select t.kind, jsonb_build_object('rows', count(*), 'by_others', count(*) filter (where not t.own)) as counts
            from target t group by t.kind) g), '{}'),
        (select encode(sha256(convert_to(coalesce(string_agg(t.kind || ' ' || t.key, E'\n' order by t.kind, t.key), ''), 'UTF8')), 'hex') from target t);
end;

comment on function textrawl.count_erasure is
    'The keys and counts of the rows of an erasure by kind, and a hash by which a plan is compared with the deed.';
