create function textrawl.proposal_beside(space integer, proposal uuid) returns jsonb
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    shown    proposal;
    subject  uuid;
    target   text;
    replaced uuid;
    near     jsonb := '[]';
    contrary jsonb := '[]';
begin
    select p.* into shown from proposal p where p.space_id = proposal_beside.space and p.id = proposal_beside.proposal;
    if shown.kind in ('merge', 'end', 'pin') then
        return (
            select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'content', o.content, 'why', case shown.finding
                when 'question' then 'answers' when 'double' then 'repeats' when 'pin' then 'is external' else 'contradicts' end)), '[]')
            from fact o
            where o.space_id = space and (o.id = shown.other and shown.kind = 'end'
                or o.id = shown.one and shown.kind = 'pin' and find_origin(o.origin, o.tool, o.client, o.source) = 'external'));
    end if;
    subject := (select e.id from entity e where e.space_id = shown.space_id and e.name_key = entity_key(shown.space_id, shown.entity_name));
    if subject is null then
        return '[]';
    elsif shown.kind = 'relation' then
        target := entity_key(shown.space_id, shown.to_name);
        return (
            select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'content', statement_text(r.relation_type, t.name),
                'why', case when t.name_key = target then 'repeats' else 'replaces' end) order by r.created_at, r.id), '[]')
            from relation r join entity t on t.space_id = r.space_id and t.id = r.to_entity
            where r.space_id = shown.space_id and r.from_entity = subject and r.relation_type = relation_key(shown.relation_type)
              and is_valid(r.valid_from, r.valid_until, r.closed_at) and (t.name_key = target or shown.replaces_edges));
    end if;
    if shown.replaces is not null and replaced_fault(space, shown.entity_name, shown.replaces) is null then
        replaced := find_fact(space, subject, shown.replaces);
    end if;
    contrary := (
        select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'content', d.content, 'why', 'contradicts')), '[]')
        from disagreeing_facts(space, array[jsonb_populate_record(null::new_fact, jsonb_build_object(
            'id', shown.id, 'entity_id', subject, 'entity_name', shown.entity_name, 'content', shown.content,
            'valid_until', shown.valid_until, 'said_at', shown.said_at,
            'claim', make_claim(shown.content, space_language(space)::text)))], array[null]::uuid[], replaced) d);
    if shown.vector is not null and shown.model_id is not null then
        near := (
            select coalesce(jsonb_agg(to_jsonb(n) - 'cosine' order by n.cosine desc), '[]') from (
                select o.id, o.content, b.cosine, 'is close' as why
                from fact o
                cross join lateral (
                    select 1 - (v.vector <=> shown.vector) as cosine from embedding v
                    where v.model_id = shown.model_id and v.space_id = o.space_id and v.observation_id = o.id offset 0) b
                where o.space_id = proposal_beside.space and o.entity_id = subject and is_valid(o.valid_from, o.valid_until, o.closed_at)
                  and o.content_hash <> shown.content_hash and o.id is distinct from replaced
                  and o.id is distinct from (contrary -> 0 ->> 'id')::uuid and b.cosine >= 0.8
                order by b.cosine desc limit 3) n);
    end if;
    return (
        select coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'content', o.content,
            'why', case when o.id = replaced then 'replaces' else 'repeats' end) order by o.id = replaced desc, o.ordinal), '[]')
        from fact o
        where o.space_id = shown.space_id and o.entity_id = subject
          and (o.id = replaced or o.content_hash = shown.content_hash and is_valid(o.valid_from, o.valid_until, o.closed_at))) || contrary || near;
end
$$;

comment on function textrawl.proposal_beside is
    'The stored facts or relations beside a proposal: [{id, content, why}]. `why` is repeats (the same text), replaces, '
    'contradicts (see disagreement()), answers (an open question), is close, or is external (the fact to pin).';
