-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function textrawl.name_entity, textrawl.unname_entity, textrawl.list_aliases,
    textrawl.edit_entity, textrawl.set_description, textrawl.rename_entity, textrawl.retype_entity, textrawl.merge_entities, textrawl.merge_pairs, textrawl.split_entity, textrawl.find_same_entities,
    textrawl.own_entities, textrawl.set_own_entity
    to textrawl_app;

grant execute on function textrawl.list_aliases, textrawl.find_same_entities, textrawl.own_entities to textrawl_analyst;

-- These functions show no content of a memory.
grant execute on function textrawl.name_likeness, textrawl.name_form, textrawl.compare_forms, textrawl.compare_words to textrawl_analyst;
