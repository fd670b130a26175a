create function textrawl.find_proposals(proposals text[], spaces integer[])
returns table (space_id integer, id uuid)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    reference text;
    matches   integer;
begin
    foreach reference in array coalesce(proposals, '{}') loop
        select count(*) into matches from proposal p join space s on s.id = p.space_id
        where is_fact_id(reference) and starts_with(p.id::text, lower(reference)) and p.space_id = any(spaces)
          and is_pending(p.decision, p.created_at, s.proposal_days);
        if matches <> 1 then
            raise exception using errcode = 'TR016', message = 'not the id of one pending proposal',
                detail = coalesce(left(reference, 60), '');
        end if;
    end loop;
    return query
        select p.space_id, p.id from proposal p
        where p.space_id = any(spaces) and p.decision is null
          and exists (select from unnest(proposals) r (reference) where starts_with(p.id::text, lower(r.reference)))
        order by p.space_id, p.created_at, p.id;
end
$$;

comment on function textrawl.find_proposals is
    'The pending proposals with these ids, or with the first 8 or more characters of their ids, oldest first. Error '
    'TR016: an id names no pending proposal of these spaces, or several; the detail is the id.';
