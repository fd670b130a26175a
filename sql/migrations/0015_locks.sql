-- Locks that only the owner's functions can take. An advisory lock is open to every login of the database,
-- and whoever held one could stop forgetting, undo and migrations.

create table removal_lock ();
comment on table removal_lock is 'Holds no row: locked by claim_removal() while facts are taken out of the memory, and while words are counted.';

create table vector_index_claim (
    singleton     boolean primary key default true check (singleton),
    pid           integer,
    backend_start timestamptz
);
comment on table vector_index_claim is 'The session that drops and builds indexes of vectors: claim_vector_indexes() writes it, release_vector_indexes() clears it.';
comment on column vector_index_claim.singleton is 'True: there is one row.';
comment on column vector_index_claim.pid is 'Process of the session; null: nobody does. The claim of a session that has ended does not count.';
comment on column vector_index_claim.backend_start is 'When that session began, since a later one may have its number.';
insert into vector_index_claim default values;

-- What a monitoring system holds: it sees the numbers of a server and nothing of any space.
alter table space_grant
    drop constraint space_grant_scopes_check,
    add constraint space_grant_scopes_check check (scopes <@ array['read', 'write', 'forget', 'admin', 'metrics'] and scopes <> '{}');
alter table token
    drop constraint token_scopes_check,
    add constraint token_scopes_check check (scopes <@ array['read', 'write', 'forget', 'admin', 'metrics'] and scopes <> '{}');
comment on column space_grant.scopes is 'read, write, forget (delete for good), admin (grants, trail, undo), metrics (the numbers of servers, nothing of the space).';
comment on column token.scopes is 'The most that it may do: read, write, forget, admin, metrics.';
