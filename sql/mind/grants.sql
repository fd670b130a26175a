-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.write_graph, textrawl.write_edge, textrawl.update_node, textrawl.update_edge, textrawl.delete_node,
    textrawl.delete_edge, textrawl.fetch_nodes, textrawl.fetch_edges, textrawl.find_edges, textrawl.list_nodes,
    textrawl.match_nodes, textrawl.traverse_graph, textrawl.graph_insights, textrawl.graph_statistics
    to textrawl_app;

grant execute on function
    textrawl.fetch_nodes, textrawl.fetch_edges, textrawl.find_edges, textrawl.list_nodes, textrawl.match_nodes,
    textrawl.traverse_graph, textrawl.graph_insights, textrawl.graph_statistics
    to textrawl_analyst;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant execute on function textrawl.node_states, textrawl.node_description, textrawl.edge_states, textrawl.node_name
    to textrawl_analyst;
grant select on textrawl.graph_node, textrawl.graph_edge, textrawl.graph_change to textrawl_analyst;
