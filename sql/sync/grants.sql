-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.register_instance, textrawl.changed_documents, textrawl.push_changes, textrawl.sync_state
    to textrawl_app;

grant execute on function textrawl.changed_documents, textrawl.sync_state to textrawl_analyst;
