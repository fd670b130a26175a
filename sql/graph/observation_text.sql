create function textrawl.observation_text(said jsonb) returns text
language sql immutable strict parallel safe
begin atomic
    select case when jsonb_typeof(said) = 'array'
        then (select string_agg(part, '' order by place) from jsonb_array_elements_text(said) with ordinality parts(part, place))
        else said #>> '{}' end;
end;

comment on function textrawl.observation_text is
    'The text of an observation that the caller sent as a text or as a list of parts. '
    'Example: select textrawl.observation_text(''["One. ", "Two."]'');';
