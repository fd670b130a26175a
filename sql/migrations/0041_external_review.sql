alter table space add column external_reviewed boolean not null default false;
comment on column space.external_reviewed is 'True: external facts become proposals here, whoever stores them.';
