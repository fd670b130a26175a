create function textrawl.stored_table(name text) returns regclass
language sql stable parallel safe
begin atomic
    -- A cell of a distributed memory has another version of this function: in a cell, the name is a view of a shard.
    select to_regclass(format('textrawl.%I', name));
end;

comment on function textrawl.stored_table is
    'The table that has the rows of a table of textrawl; null if there is no such table. '
    'Example: select textrawl.stored_table(''observation'');';
