create function textrawl.own_index_name(model integer, space integer) returns text
language sql immutable strict parallel safe
begin atomic
    select 'embedding_' || model || '_space_' || space || '_idx';
end;

comment on function textrawl.own_index_name is
    'The name of the index that contains only the vectors of one space. '
    'Example: select textrawl.own_index_name(1, 7);';
