create function textrawl.take_away(
    moving bigint, source textrawl.entity, chosen uuid[], edges uuid[],
    copies jsonb,  -- {id in the source: id in the target}
    origin textrawl.origin,
    out facts bigint, out relations bigint
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    plan jsonb;
begin
    select coalesce(jsonb_agg(jsonb_build_object(
        'action', 'remove', 'kind', t.kind, 'id', t.id, 'entity_id', coalesce(t.entity_id, source.id))), '[]')
    into plan
    from (select 'observation' as kind, f.id, null::uuid as entity_id from unnest(chosen) f (id)
          union all
          select 'relation', r.id, r.from_entity from relation r where r.space_id = source.space_id and r.id = any(edges)) t;
    perform keep_undone(source.space_id, moving, plan);
    update undone d
    set after = jsonb_build_object('copy', copies ->> d.id::text, 'replaces', (
        select jsonb_agg(o.id) from observation o
        where o.space_id = d.space_id and o.replaced_by = d.id and o.id <> all(chosen)))
    where d.space_id = source.space_id and d.undo_id = moving;
    facts := cardinality(chosen); relations := cardinality(edges);
    perform remove_kept(source.space_id, moving);
    update entity e set updated_at = clock_timestamp() where e.space_id = source.space_id and e.id = source.id;
    perform record_event('transferred', source.id, null, null, origin,
                         jsonb_build_object('move', moving, 'facts', facts, 'relations', relations));
end
$$;

comment on function textrawl.take_away is
    'Delete the facts and relations that a move copied to another space, and keep them for an undo of the move.';
