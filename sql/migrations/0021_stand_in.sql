-- A memory whose settings ask for an encoder works with the local model until the files of the encoder are on the
-- server's machine. The local model stands in for the encoder meanwhile.
alter table embedding_model
    add column stands_in_for text,
    add column obstacle text;
comment on column embedding_model.stands_in_for is 'The awaited model: the settings of a server ask for it, but its files were not on the server''s machine. Servers change to it when they have its files. Null: the model stands in for no other model.';
comment on column embedding_model.obstacle is 'Why the awaited model is not used yet, as the last server said.';
