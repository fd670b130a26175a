create function textrawl.verify_erasure(receipt jsonb, space integer default null, credential bytea default null) returns text
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home space;
begin
    select s.* into home from space s
    where s.id = any(administered_spaces(credential, verify_erasure.space)) and receipt_key_id(s.id) = receipt ->> 'key';
    return case
        when home.id is null then 'unknown'
        when hmac_sha256((receipt - 'signature')::text, receipt_key(home.id)) is distinct from receipt ->> 'signature' then 'altered'
        when exists (select from erasure e where e.space_id = home.id and e.id::text = receipt ->> 'erasure') then 'valid'
        else 'pending' end;
end
$$;

comment on function textrawl.verify_erasure is
    'Check a receipt. valid: a space of this memory signed it, and the erasure is done here. pending: signed, but this memory is older '
    'than the erasure. altered: the receipt was changed. unknown: no space that the caller administers has its key. '
    'Errors: TR010, TR011 (access).';
