create function textrawl.local_facts() returns setof textrawl.fact
language sql stable
begin atomic
    -- The function sets no options, so that the planner can inline it. The condition is that of is_of_repository(), which
    -- cannot be inlined with a subquery. A subquery is computed once, the function itself would be for each fact.
    select o.* from textrawl.fact o
    where (select textrawl.session_repositories()) is null or o.repository is null
       or split_part(o.repository, '#', 1) = any((select textrawl.session_repositories())::text[]);
end;

comment on function textrawl.local_facts is
    'The facts of the repository of this session, of those that its question names, and of none. Without a repository: all '
    'facts. What shows facts to a session reads them here. Example: select content from textrawl.local_facts();';
