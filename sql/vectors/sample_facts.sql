create function textrawl.sample_facts(max_rows integer, min_length integer default 24)
returns table (entity_name text, content text)
language sql volatile
begin atomic
    select e.name, o.content
    from (
        select o.space_id, o.entity_id, o.content from textrawl.fact o
        where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) and length(o.content) >= min_length
          and o.space_id <> all(textrawl.sensitive_spaces())
        order by random() limit max_rows
    ) o
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id;
end;

comment on function textrawl.sample_facts is
    'A random sample of valid facts with at least min_length characters, from all spaces. It serves to measure an '
    'embedding model. '
    'Example: select * from textrawl.sample_facts(10);';
