-- A fact that was being stored while the first model of its memory was created got no vector. Look once for such facts.
update embedding_model set queued = false, queued_space = null, queued_observation = null;
