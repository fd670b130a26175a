create function textrawl.report_awaited_model(name text, obstacle text) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
begin
    update embedding_model m set stands_in_for = name, obstacle = report_awaited_model.obstacle
    where m.status = 'active' and m.stands_in_for is not null
      and (m.stands_in_for, m.obstacle) is distinct from (name, report_awaited_model.obstacle);
    return found;
end
$$;

comment on function textrawl.report_awaited_model is
    'Record which model the active model stands in for, and why the awaited model is not used yet. Return whether '
    'this is news. An active model that stands in for no other model stays as it is.';
