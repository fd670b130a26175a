create function textrawl.kept_version(space integer, document uuid, withdrawn bigint[]) returns bigint
language sql stable
begin atomic
    select v.version from textrawl.document_version v
    where v.space_id = space and v.document_id = document and not v.lost
      and not exists (
          select from textrawl.event e
          where e.space_id = space and e.detail ? 'document' and e.detail ->> 'document' = v.document_id::text
            and (e.detail ->> 'version')::bigint = v.version and e.id = any(withdrawn))
    order by v.version desc limit 1;
end;

comment on function textrawl.kept_version is
    'The version of a document that is current if some events are withdrawn: the last version that lost no conflict and '
    'that none of these events stored. Null if there is no such version.';
