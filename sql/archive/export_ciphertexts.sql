create function textrawl.export_ciphertexts(space integer)
returns table (
    kind text, space text, id uuid, key uuid, version integer, digest text, head text, content text,
    created_at timestamptz, stored_at timestamptz
)
language sql stable
begin atomic
    select 'ciphertext'::text, s.name, d.id, k.id, d.version, encode(d.digest, 'hex'),
        -- encode() breaks lines.
        translate(encode(d.head, 'base64'), E'\n', ''), translate(encode(d.content, 'base64'), E'\n', ''), d.created_at, d.stored_at
    from textrawl.encrypted_document d
    join textrawl.space s on s.id = d.space_id
    join textrawl.graph_key k on k.space_id = d.space_id
    where d.space_id = export_ciphertexts.space
    order by d.created_at, d.id;
end;

comment on function textrawl.export_ciphertexts is
    'Encrypted documents of a sensitive graph as lines of an export, still encrypted. '
    'Example: select row_to_json(d) from textrawl.export_ciphertexts(1) d;';
