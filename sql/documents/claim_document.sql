create function textrawl.claim_document(
    kind text, path text, entity text, origin textrawl.origin,
    out id uuid, out version bigint, out created boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    owner uuid;
begin
    -- Every function that changes documents locks in this order: removals, entities by name, the clock of the space.
    if claim_document.entity is not null then
        owner := claim_owner(claim_document.entity, origin);
    end if;
    version := next_change(origin.space_id);
    select d.id into id from document d
    where d.space_id = origin.space_id and d.kind = claim_document.kind and d.path = claim_document.path;
    created := not found;
    if created then
        insert into document as d (space_id, kind, path, entity_id, changed)
        values (origin.space_id, claim_document.kind, claim_document.path, owner, version)
        returning d.id into id;
        delete from document_tombstone t
        where t.space_id = origin.space_id and t.kind = claim_document.kind and t.path = claim_document.path;
    end if;
end
$$;

comment on function textrawl.claim_document is
    'Find or create a document, with its entity if `entity` is given, and take the number of its next change. Until the '
    'transaction ends, no other session changes documents of the space. Call claim_removal() first.';
