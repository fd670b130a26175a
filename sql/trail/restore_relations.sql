create function textrawl.restore_relations(space integer, undo bigint) returns void
language sql volatile
begin atomic
    insert into textrawl.relation
    select edge.*
    from textrawl.undone d
    cross join lateral jsonb_populate_record(null::textrawl.relation, d.before || jsonb_build_object(
        'from_entity', textrawl.find_restored(d.space_id, d.entities, (d.before ->> 'from_entity')::uuid),
        'to_entity', textrawl.find_restored(d.space_id, d.entities, (d.before ->> 'to_entity')::uuid))) edge
    where d.space_id = space and d.undo_id = undo and d.action = 'remove' and d.kind = 'relation'
      and not exists (
          select from textrawl.renewed_ids(d.id) n join textrawl.relation r on r.space_id = d.space_id and r.id = n.renewed)
    on conflict do nothing;
end;

comment on function textrawl.restore_relations is
    'Restore the relations that an undo keeps. A relation that was stored again meanwhile is not restored.';
