create view textrawl.memory_sources with (security_invoker) as
select g.name as graph, g.tier, s.document_id, s.label, d.path, s.source_kind, s.chunks, s.tokens, v.number as version,
       v.modified_at, a.name as author, v.client, d.created_at
from textrawl.source s
join textrawl.space g on g.id = s.space_id
join textrawl.document d on d.space_id = s.space_id and d.id = s.document_id
join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
join textrawl.actor a on a.id = v.author_id;

comment on view textrawl.memory_sources is 'Sources of graphs with their current versions. Views of facts leave graphs out.';
comment on column textrawl.memory_sources.graph is 'Name of the graph.';
comment on column textrawl.memory_sources.tier is 'public, personal or sensitive.';
comment on column textrawl.memory_sources.document_id is 'Id of the source, the sourceId of the tools.';
comment on column textrawl.memory_sources.label is 'Name of the source for people.';
comment on column textrawl.memory_sources.path is 'Key of the source in its graph, such as file/notes/tea.md.';
comment on column textrawl.memory_sources.source_kind is 'clip, ai-conversation or file.';
comment on column textrawl.memory_sources.chunks is 'Number of chunks.';
comment on column textrawl.memory_sources.tokens is 'Tokens of all chunks together.';
comment on column textrawl.memory_sources.version is 'Number of the current version, from 1.';
comment on column textrawl.memory_sources.modified_at is 'Time when the text was changed.';
comment on column textrawl.memory_sources.author is 'Author of the current version.';
comment on column textrawl.memory_sources.client is 'Name and version of the MCP client; null if it was stored from SQL or by a command.';
comment on column textrawl.memory_sources.created_at is 'Time when the source was first stored.';
