create function textrawl.receipt_key_id(space integer) returns text
language sql stable
begin atomic
    select left(encode(sha256(textrawl.receipt_key(space)), 'hex'), 16);
end;

comment on function textrawl.receipt_key_id is
    'The `key` of the receipts of a space: it tells which space signed a receipt, but not the key.';
