create function textrawl.state_kind(claim jsonb) returns text
language sql immutable parallel safe
begin atomic
    -- A week on call is no measure for who leads a project, and a name or a birthday holds for ever.
    select case when claim ? 'topic' and not claim ?| '{event,past}' and claim ->> 'topic' <> 'attr birthday'
            and claim ->> 'predicate' not in ('lead', 'name') then
        case when claim ->> 'predicate' ~ '^(attr|be|has|v:.*|)$' then claim ->> 'topic' else split_part(claim ->> 'predicate', ':', 1) end end;
end;

comment on function textrawl.state_kind is
    'The kind of state whose usual life is measured: work, cost, or of a named property its topic, such as attr status. Null: no '
    'state with one value at a time. Example: select textrawl.state_kind(textrawl.make_claim(''works at Globex''));';
