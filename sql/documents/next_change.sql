create function textrawl.next_change(space integer) returns bigint
language sql volatile
begin atomic
    insert into textrawl.document_clock as c (space_id, version) values (space, 1)
    on conflict (space_id) do update set version = c.version + 1
    returning c.version;
end;

comment on function textrawl.next_change is
    'The number of the next change of the documents of a space. Sessions that change other documents of the space wait '
    'until this transaction ends. Lock entities before this call, never after it.';
