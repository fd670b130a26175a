create function textrawl.switch_awaited_model() returns text
language plpgsql volatile security definer
set search_path from current
as $$
begin
    lock table embedding_model in share update exclusive mode;
    if not exists (select from embedding_model m where m.status = 'active' and m.stands_in_for is not null) then
        return null;
    end if;
    return (select s.name from switch_embedding_model() s);
end
$$;

comment on function textrawl.switch_awaited_model is
    'Make the model that a stand-in was waiting for active, like switch_embedding_model(), and return its name. Null: '
    'the active model stands in for no other model. Errors: TR044 (no model has the status building), TR045 (more '
    'than one fact in a hundred has no vector of the model yet).';
