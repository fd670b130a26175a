create function textrawl.find_author(name text) returns integer
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    found_id integer;
begin
    select a.id into found_id from actor a where a.name = find_author.name;
    if found_id is null then
        raise exception using errcode = 'TR030', message = 'no such author';
    end if;
    return found_id;
end
$$;

comment on function textrawl.find_author is
    'The id of the actor with the given name. Error TR030: no such author.';
