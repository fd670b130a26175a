create function textrawl.propose_finding(given jsonb, origin textrawl.origin) returns uuid
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    proposed uuid;
    rejected text;  -- the reason of a rejection that an undo took back, and its revert brings back
    v        jsonb := jsonb_strip_nulls(given);
    relates  boolean := given ->> 'kind' = 'relation';
    hash     uuid := fact_hash(case when relates
        then relation_key(given ->> 'relation_type') || chr(10) || name_key(given ->> 'to_name') else given ->> 'said' end);
begin
    -- What an undo withdrew is proposed again under its id, as it is now, and so is a rejected finding about a file that
    -- has changed again. Everything else is proposed once.
    delete from proposal p
    where p.space_id = origin.space_id and p.finding = v ->> 'finding'
      and (p.decision = 'withdrawn' or p.finding = 'anchor' and p.decision = 'rejected' and p.evidence <> v ->> 'evidence')
      and least(p.one, p.other) = least((v ->> 'one')::uuid, (v ->> 'other')::uuid)
      and greatest(p.one, p.other) = greatest((v ->> 'one')::uuid, (v ->> 'other')::uuid)
    returning p.id, p.reason into proposed, rejected;
    insert into proposal as p (space_id, id, kind, entity_name, entity_key, content, content_hash, given_hash,
        relation_type, to_name, to_key, source, valid_until, evidence, finding, one, other, repository, fts, reason, author_id, client, tool, request)
    select origin.space_id, coalesce(proposed, gen_random_uuid()), v ->> 'kind', v ->> 'name', v ->> 'name_key', case when not relates then v ->> 'said' end,
        hash, md5(concat_ws(' ', v ->> 'finding', v ->> 'one', v ->> 'other'))::uuid,
        v ->> 'relation_type', case when relates then v ->> 'to_name' end, case when relates then name_key(v ->> 'to_name') end,
        'note', (v ->> 'valid_until')::timestamptz, v ->> 'evidence', v ->> 'finding', (v ->> 'one')::uuid, (v ->> 'other')::uuid, v ->> 'repository',
        '', rejected, origin.author_id, origin.client, origin.tool, origin.request
    on conflict (space_id, finding, least(one, other), greatest(one, other)) where finding is not null do nothing
    returning p.id into proposed;
    if proposed is not null then
        perform record_event('proposed', null, null, null, origin, jsonb_build_object('proposal', proposed));
    end if;
    return proposed;
end
$$;

comment on function textrawl.propose_finding is
    'Store a finding of tidy_memory() or a pin as a proposal, and return its id. Null: it was proposed before, and not withdrawn.';
