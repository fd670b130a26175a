create function textrawl.hmac_sha256(message text, secret bytea) returns text
language sql immutable strict parallel safe
begin atomic
    -- RFC 2104 for a key of at most 64 bytes. Postgres has it only in the extension pgcrypto.
    select encode(sha256(p.outer_pad || sha256(p.inner_pad || convert_to(message, 'UTF8'))), 'hex')
    from (select string_agg(set_byte('\x00', 0, b.byte # 92), ''::bytea order by b.place) as outer_pad,
              string_agg(set_byte('\x00', 0, b.byte # 54), ''::bytea order by b.place) as inner_pad
          from (select i as place, case when i < octet_length(secret) then get_byte(secret, i) else 0 end as byte
                from generate_series(0, 63) i) b) p;
end;

comment on function textrawl.hmac_sha256 is
    'HMAC-SHA-256 of a text in hexadecimal. '
    'Example: select textrawl.hmac_sha256(''what do ya want for nothing?'', ''Jefe'');';
