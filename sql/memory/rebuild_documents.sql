create function textrawl.rebuild_documents(max_rows integer default 500) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    job   document_rebuild;
    batch uuid[];
    busy  uuid;
begin
    -- Only one session at a time works on a space. Other sessions take the next space.
    select * into job from document_rebuild order by started_at, space_id limit 1 for update skip locked;
    if job.space_id is null then
        return false;
    end if;
    if job.reflections then
        batch := array(
            select t.id
            from (select r.id from reflection r where r.space_id = job.space_id
                  union all
                  select i.document_id from item i where i.space_id = job.space_id and i.fts is not null) t
            where job.reached is null or t.id > job.reached
            order by t.id limit max_rows);
        update reflection r set fts = language_document(space_language(job.space_id), r.content)
        where r.space_id = job.space_id and r.id = any(batch);
        update item i set fts = item_document(
            i.space_id, space_language(job.space_id), item_text(i.fields -> 'value', p.attributes -> 'index'))
        from present_items(job.space_id) p
        where i.space_id = job.space_id and i.document_id = any(batch) and i.fts is not null and p.document_id = i.document_id;
    else
        batch := array(
            select o.id from observation o where o.space_id = job.space_id and (job.reached is null or o.id > job.reached)
            order by o.id limit max_rows);
        -- Never wait for a fact that another session has locked. This session has locked other facts, so waiting could
        -- deadlock. Handle only the facts before the locked fact, and continue in a later call.
        busy := (
            select id from unnest(batch) id
            where id <> all(array(
                select o.id from observation o where o.space_id = job.space_id and o.id = any(batch)
                order by o.id for no key update skip locked))
            order by id limit 1);
        if busy = batch[1] then
            return false;
        end if;
        batch := array(select id from unnest(batch) id where busy is null or id < busy order by id);
        update observation o
        set fts = search_document(o.space_id, language, document_names(o.space_id, e.id, o.relation_id), o.content, nullif(o.said_at, o.created_at)),
            claim = case when o.whole is null then make_claim(o.content, language::text) end
        from entity e, (select space_language(job.space_id) as language) chosen
        where o.space_id = job.space_id and o.id = any(batch) and e.space_id = o.space_id and e.id = o.entity_id;
    end if;
    if batch <> '{}' then
        update document_rebuild r set reached = batch[cardinality(batch)] where r.space_id = job.space_id;
    elsif not job.reflections then
        update document_rebuild r set reflections = true, reached = null where r.space_id = job.space_id;
    elsif refresh_search_statistics(force => true) then
        -- Delete the row only after the new words are counted. Until then, a search also needs the counts of the former
        -- words.
        delete from document_rebuild r where r.space_id = job.space_id;
    else
        return false;
    end if;
    return true;
end
$$;

comment on function textrawl.rebuild_documents is
    'After the language of a space has changed, make the next batch of its search documents and claims anew. Return false if this '
    'session can do nothing now. Servers call this function in the background. '
    'Example: select textrawl.rebuild_documents();';
