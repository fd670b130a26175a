create function textrawl.write_receipt(
    erasure uuid, rows jsonb, counts jsonb, names text[], actors integer[], renames boolean, keep text, origin textrawl.origin
) returns jsonb
language sql stable
begin atomic
    select r.receipt || jsonb_build_object('signature', textrawl.hmac_sha256(r.receipt::text, r.secret))
    from (
        select m.secret, jsonb_build_object(
            'erasure', erasure, 'space_id', s.id, 'space', case when textrawl.names_person(s.name, textrawl.person_pattern(names)) then null else s.name end,
            'at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'by', (origin).author_id,  -- without a name, because the actor can be erased later
            'keep', keep, 'counts', counts,
            'actors', (select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'name', textrawl.hmac_sha256(textrawl.name_key(a.name), m.secret)) order by a.id), '[]')
                       from textrawl.actor a where a.id = any(actors)),
            'renames', renames,
            'names', (select jsonb_agg(distinct textrawl.hmac_sha256(textrawl.name_key(n), m.secret)) from unnest(names) n),
            -- The keys of these tables are texts, which can name the person.
            'rows', (select jsonb_object_agg(k.key, case when split_part(k.key, ' ', 1) in ('document_tombstone', 'identity_snapshot', 'imported_item', 'instance')
                         then (select jsonb_agg('hmac:' || textrawl.hmac_sha256(v.key, m.secret) order by v.key) from jsonb_array_elements_text(k.value) v (key))
                         else k.value end)
                     from jsonb_each(rows) k),
            'key', textrawl.receipt_key_id(s.id)) as receipt
        from textrawl.space s cross join lateral (select textrawl.receipt_key(s.id) as secret) m
        where s.id = (origin).space_id) r;
end;

comment on function textrawl.write_receipt is
    'The signed receipt of an erasure. It names the rows by their ids, and the names of the person by hashes with receipt_key(). The '
    'signature is hmac_sha256() of the text of the receipt as jsonb.';
