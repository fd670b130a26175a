create function textrawl.end_collapsed(space integer, merge uuid, rows jsonb) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    former  merged;  -- a row as the first merge ended it
    present merged;  -- the row as the repeated merge ended it, or null
    twin_id uuid;
begin
    for former in select m.* from jsonb_populate_recordset(null::merged, rows) m order by m.id loop
        select m.* into present from merged m
        where m.space_id = end_collapsed.space and m.merge_id = end_collapsed.merge and m.id = former.id;
        if former.kind = 'fact' then
            twin_id := (select o.id from observation o where o.space_id = end_collapsed.space and o.id = former.twin);
            update observation o set valid_until = former.ended, closed_at = former.ended, replaced_by = twin_id
            where o.space_id = end_collapsed.space and o.id = former.id
              and o.valid_until is not distinct from coalesce(present.ended, former.valid_until)
              and o.replaced_by is not distinct from present.twin;
        else
            update relation r set valid_until = former.ended, closed_at = former.ended
            where r.space_id = end_collapsed.space and r.id = former.id
              -- If an equal relation was valid, the split left the relation ended.
              and (r.valid_until = former.ended or r.valid_until is not distinct from coalesce(present.ended, former.valid_until));
        end if;
        -- Also record a row that another undo has removed, so that it is ended again when it is restored.
        if found or not exists (select from observation o where o.space_id = end_collapsed.space and o.id = former.id) then
            insert into merged as m select former.*
            on conflict (space_id, merge_id, id) do update set twin = excluded.twin, ended = excluded.ended;
        end if;
    end loop;
end
$$;

comment on function textrawl.end_collapsed is
    'End the facts and relations that a merge had ended before an undo split it. The repeated merge can have left '
    'them valid, or given them another end, because their twins have changed meanwhile.';
