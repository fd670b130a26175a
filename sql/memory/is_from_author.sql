create function textrawl.is_from_author(
    space integer, author integer, source text, tool text,
    authors integer[],  -- null: all
    members boolean     -- true: only people and agents who may write to the space
) returns boolean
language sql stable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it.
    select (authors is null or author = any(authors)) and (not members or (
        source <> 'document' and tool <> 'import' and (
            exists (select from textrawl.space_grant g
                    where g.space_id = is_from_author.space and g.actor_id = is_from_author.author and 'write' = any(g.scopes))
            or exists (select from textrawl.token t
                       where t.actor_id = is_from_author.author and t.kind = 'local' and 'write' = any(t.scopes)))));
end;

comment on function textrawl.is_from_author is
    'True if a fact is from one of these authors and, if members is true, from a member of its space: somebody whose grant '
    'or local token has the scope write. Facts from documents and from imports of other programs are not from members.';
