create function textrawl.observation_parts(said jsonb) returns table (
    part smallint,  -- position in a long observation, otherwise null
    whole uuid,     -- md5 of the text of a long observation, otherwise null
    content text
)
language sql immutable parallel safe rows 2
begin atomic
    select null::smallint, null::uuid, said #>> '{}' where jsonb_typeof(said) = 'string'
    union all
    select parts.place::smallint, md5(textrawl.observation_text(said))::uuid, parts.content
    from jsonb_array_elements_text(case when jsonb_typeof(said) = 'array' then said else '[]' end)
        with ordinality parts(content, place)
    order by 1;
end;

comment on function textrawl.observation_parts is
    'Split an observation into the facts that store it: one fact for a text, or one fact for each part of a long '
    'observation. '
    'Example: select part, content from textrawl.observation_parts(''["One. ", "Two."]'');';
