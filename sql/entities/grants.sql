-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function textrawl.name_entity, textrawl.unname_entity, textrawl.list_aliases,
    textrawl.merge_entities, textrawl.split_entity
    to textrawl_app;

grant execute on function textrawl.list_aliases to textrawl_analyst;
