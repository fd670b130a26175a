create function textrawl.may_add_webhook(actor integer, space integer, content boolean) returns boolean
language sql stable
begin atomic
    select actor is null
        or exists (
            select from textrawl.space_grant g
            where g.actor_id = actor and g.space_id = may_add_webhook.space
              and g.scopes @> case when content then array['admin', 'read'] else array['admin'] end)
        or exists (
            select from textrawl.token t
            where t.actor_id = actor and t.kind = 'local' and textrawl.is_live_token(t.revoked_at, t.expires_at));
end;

comment on function textrawl.may_add_webhook is
    'True if an actor has the scope admin in a space, and with content the scope read, too. Null as actor is the owner of '
    'the memory.';
