-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.find_graph_key, textrawl.claim_graph_key, textrawl.store_encrypted_document, textrawl.encrypted_documents,
    textrawl.forget_encrypted_document, textrawl.destroy_graph_key,
    textrawl.next_clear_source, textrawl.encrypt_source
    to textrawl_app;
