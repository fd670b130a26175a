create function textrawl.node_name(label text, type text) returns text
language sql immutable strict parallel safe
begin atomic
    select case when char_length(whole) <= 200 then whole
        -- Two long labels can begin with the same characters. The hash makes their names different.
        else left(label, 188 - char_length(type)) || ' ' || left(md5(textrawl.name_key(label)), 8) || ' (' || type || ')' end
    from (select label || ' (' || type || ')' as whole) as composed;
end;

comment on function textrawl.node_name is
    'The name for the entity of a new node, if an entity of another type already has the label of the node as its name. '
    'Example: select textrawl.node_name(''Mercury'', ''planet'');';
