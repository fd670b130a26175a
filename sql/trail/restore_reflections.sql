create function textrawl.restore_reflections(space integer, undo bigint) returns void
language sql volatile
begin atomic
    insert into textrawl.reflection (space_id, id, target_type, entity_id, relation_id, content, voice, mood,
                                     author_id, client, tool, request, created_at, fts, model_id, vector)
    select f.space_id, f.id, f.target_type, e.id, r.id, f.content, f.voice, f.mood,
        f.author_id, f.client, f.tool, f.request, f.created_at, textrawl.language_document(textrawl.space_language(f.space_id), f.content),
        m.id, case when m.id is not null then f.vector end
    from textrawl.undone d
    cross join lateral jsonb_populate_record(null::textrawl.reflection, d.before) f
    left join textrawl.entity e on e.space_id = f.space_id and e.id = textrawl.find_restored(f.space_id, d.entities, f.entity_id)
    left join textrawl.relation r on r.space_id = f.space_id and r.id = f.relation_id
    left join textrawl.embedding_model m on m.id = f.model_id
    where d.space_id = space and d.undo_id = undo and d.action = 'remove' and d.kind = 'reflection'
      -- Skip a reflection if its entity or relation does not exist any more.
      and (f.target_type = 'entity') = (e.id is not null) and (f.target_type = 'relation') = (r.id is not null)
    order by f.id
    on conflict do nothing;
end;

comment on function textrawl.restore_reflections is
    'Restore the reflections that an undo removed, if their entity or relation still exists.';
