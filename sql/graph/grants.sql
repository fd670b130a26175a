-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.create_nodes, textrawl.create_edges, textrawl.add_observations, textrawl.delete_nodes,
    textrawl.delete_observations, textrawl.delete_edges, textrawl.delete_reflections, textrawl.read_graph,
    textrawl.search_nodes, textrawl.open_nodes, textrawl.search_semantic, textrawl.end_edge,
    textrawl.add_reflection, textrawl.search_reflections, textrawl.node_sizes, textrawl.split_node,
    textrawl.similar_observations, textrawl.compared_observations, textrawl.stale_nodes, textrawl.record_use
    to textrawl_app;

-- This function shows no content of a memory, so it needs no credential.
grant execute on function textrawl.stop_words to textrawl_app;

grant execute on function
    textrawl.read_graph, textrawl.search_nodes, textrawl.open_nodes, textrawl.node_number, textrawl.search_semantic,
    textrawl.search_reflections, textrawl.node_sizes, textrawl.similar_observations, textrawl.compared_observations,
    textrawl.stale_nodes
    to textrawl_analyst;
