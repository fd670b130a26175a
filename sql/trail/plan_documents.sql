create function textrawl.plan_documents(space integer, taken bigint[], withdrawn bigint[])
returns table (
    -- As in plan_space_undo():
    action text, kind text, id uuid, entity_id uuid, event_id bigint, former jsonb
)
language sql stable
begin atomic
    with own_event as materialized (
        select e.id, e.action, (e.detail ->> 'document')::uuid as document_id from textrawl.event e
        where e.space_id = space and e.id = any(taken) and e.action in ('written', 'deleted', 'erased')
    ), touched as (
        select d.id, d.entity_id, d.version, textrawl.kept_version(space, d.id, withdrawn) as kept,
            exists (select from textrawl.document_version v
                    where v.space_id = space and v.document_id = d.id and v.number = 1) as whole
        from (select distinct document_id from own_event where action <> 'erased') t
        join textrawl.document d on d.space_id = space and d.id = t.document_id
    )
    select 'reset', 'document', touched.id, touched.entity_id, null::bigint,
        jsonb_build_object('version', touched.kept)
    from touched
    -- If the first versions were deleted because of their age, the former text is lost.
    where touched.version is distinct from touched.kept and (touched.kept is not null or touched.whole)
    union all
    select 'lost', 'document', own_event.document_id, null, own_event.id, null
    from own_event where own_event.action = 'erased';
end;

comment on function textrawl.plan_documents is
    'The documents that get a former text by the undo of some events. A document that was deleted with all its versions '
    'cannot come back.';
