create function textrawl.fill_pending_embeddings(
    model integer, spaces integer[], observations uuid[], embeddings halfvec[]
) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
declare
    stored integer;
    filled integer;
begin
    if not exists (select from embedding_model m where m.id = model) then
        return 0;  -- the model was dropped meanwhile
    end if;
    -- If a fact was forgotten after the claim, its pending row is gone too. Skip facts that are being forgotten,
    -- because waiting for them could cause a deadlock. The session that forgets a fact holds the fact and waits for its
    -- pending row.
    execute format($query$
        with available as materialized (
            select o.space_id, o.id as observation_id, input.vector
            from unnest($2, $3, $4) input (space_id, id, vector)
            join observation o on o.space_id = input.space_id and o.id = input.id
            order by o.space_id, o.id for key share of o skip locked
        ), due as materialized (
            select p.space_id, p.observation_id, available.vector
            from available join embedding_pending p using (space_id, observation_id)
            where p.model_id = $1 order by p.space_id, p.observation_id for update of p skip locked
        ), done as (
            delete from embedding_pending p using due
            where p.space_id = due.space_id and p.observation_id = due.observation_id and p.model_id = $1
            returning p.space_id, p.observation_id, due.vector)
        insert into %I (space_id, observation_id, vector)
        select space_id, observation_id, vector from done order by space_id, observation_id
        on conflict do nothing$query$, 'embedding_' || model)
    using model, spaces, observations, embeddings;
    get diagnostics stored = row_count;
    if stored = cardinality(observations) then
        return stored;  -- no item is among them
    end if;
    update item_vector v set vector = due.vector
    from (
        select w.space_id, w.text_id, input.vector
        from unnest(spaces, observations, embeddings) input (space_id, id, vector)
        join item_vector w on w.space_id = input.space_id and w.text_id = input.id and w.model_id = model and w.vector is null
        for update of w skip locked) due
    where v.space_id = due.space_id and v.text_id = due.text_id and v.model_id = model;
    get diagnostics filled = row_count;
    return stored + filled;
end
$$;

comment on function textrawl.fill_pending_embeddings is
    'Store the vectors of claimed facts and items, which are then no longer pending. Return the number of stored '
    'vectors.';
