create or replace function textrawl.note_queued() returns trigger
language plpgsql volatile
set search_path from current
as $$
begin
    insert into model_queue as q (model, queued, queued_space, queued_observation)
    values (new.id, new.queued, new.queued_space, new.queued_observation)
    on conflict (model) do update set queued = excluded.queued, queued_space = excluded.queued_space,
        queued_observation = excluded.queued_observation;
    return new;
end
$$;

comment on function textrawl.note_queued is
    'Keep how far queue_embeddings() is in this cell. The model itself is a row of the directory.';
