-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.read_identity, textrawl.write_identity, textrawl.delete_identity, textrawl.label_identity,
    textrawl.create_snapshots, textrawl.list_snapshots, textrawl.restore_snapshot, textrawl.pin_snapshot
    to textrawl_app;

grant execute on function textrawl.read_identity, textrawl.list_snapshots, textrawl.pin_snapshot to textrawl_analyst;

-- These functions show no content of a memory.
grant execute on function textrawl.identity_path, textrawl.joined_text to textrawl_analyst;
