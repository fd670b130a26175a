-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.add_webhook, textrawl.list_webhooks, textrawl.remove_webhook, textrawl.resume_webhook, textrawl.read_webhook,
    textrawl.claim_webhooks, textrawl.next_webhook_events, textrawl.fail_webhook
    to textrawl_app;
