-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.put_item, textrawl.put_items, textrawl.get_item, textrawl.delete_items, textrawl.search_items,
    textrawl.list_namespaces, textrawl.item_history, textrawl.append_log, textrawl.read_log, textrawl.pop_log, textrawl.clear_log
    to textrawl_app, textrawl_analyst;

-- A server calls this function after it has read an item.
grant execute on function textrawl.renew_item to textrawl_app;

-- These functions show no rows, or only rows that row-level security shows.
grant execute on function
    textrawl.present_items, textrawl.is_unexpired, textrawl.item_field, textrawl.matches_filter, textrawl.filter_conditions,
    textrawl.item_text, textrawl.item_jsonpath, textrawl.matches_labels
    to textrawl_analyst;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.item, textrawl.item_namespace to textrawl_analyst;
