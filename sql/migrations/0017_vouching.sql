-- A server vouches for tokens of the identity provider that the owner named for its own token.
alter table token add column issuer text check (char_length(issuer) between 1 and 2000);
comment on column token.issuer is 'Identity provider whose tokens a server with this token vouches for, as OAUTH_ISSUER names it; null: it vouches for none.';
