create function textrawl.receipt_key(space integer) returns bytea
language sql stable
begin atomic
    -- Each space has its own key, so that no hash of one space tells who was erased from another.
    select sha256(r.secret || int4send(space)) from textrawl.receipt_secret r;
end;

comment on function textrawl.receipt_key is
    'Key of the signatures and of the hashed names in the receipts of a space.';
