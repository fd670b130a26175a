create function textrawl.refuse_parts(space integer, facts uuid[]) returns void
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    path text := (
        select d.path from observation o join document d on d.space_id = o.space_id and d.id = o.whole
        where o.space_id = refuse_parts.space and o.id = any(facts) limit 1);
begin
    if path is not null then
        raise exception using errcode = 'TR055', message = 'the fact is a part of a journal entry', detail = path;
    end if;
end
$$;

comment on function textrawl.refuse_parts is
    'Raise TR055 if a fact is a part of a journal entry. Deleting the fact alone would leave its text in the entry.';
