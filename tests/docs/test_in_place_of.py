"""What the five systems that textrawl replaces have is there, or named on the page about them."""

import json
import re
from pathlib import Path

import pytest

from tests.support.pages import ROOT
from textrawl.cli.commands.space import CORTEXGRAPH_NAMES
from textrawl.environment import is_setting

PAGE = ROOT / "docs/in-place-of.md"
SNAPSHOTS = ROOT / "tests/snapshots"
# The tools of each system with their parameters, by toolset.
TOOLS = {
    "textrawl in TypeScript": {
        "memory": """
            query_memory mode query entityTypes searchMode entityName includeRelated maxObs
            query_memory limit offset
            remember_fact entityName entityType observation source validUntil
            build_knowledge facts relations
            relate_entities fromEntity relation toEntity fromEntityType toEntityType
            forget_entity entityName confirm""",
    },
    "mcp-memory": {
        "graph": """
            create_entities entities
            create_relations relations
            add_observations name observations
            delete_entities entityNames
            delete_observations name observations
            delete_relations relations
            search_nodes query
            open_nodes names
            search_semantic query limit
            migrate source_path
            analyze_entity_split entity_name
            propose_entity_split entity_name
            execute_entity_split entity_name approved_splits parent_entity_name
            find_split_candidates
            find_duplicate_observations entity_name threshold containment_threshold
            consolidation_report stale_days
            end_relation relation_id
            add_reflection target_type target_id author content mood
            search_reflections query author mood target_type limit""",
    },
    "CortexGraph": {
        "decay": """
            save_memory content tags entities source context meta strength
            search_memory query tags top_k window_days min_score use_embeddings status
            search_unified query tags limit stm_weight ltm_weight window_days min_score verbose
            touch_memory memory_id boost_strength
            observe_memory_usage memory_ids context_tags
            analyze_message message
            analyze_for_recall message
            gc dry_run archive_instead limit
            promote_memory memory_id auto_detect dry_run target force
            cluster_memories strategy threshold max_cluster_size find_duplicates duplicate_threshold
            consolidate_memories cluster_id mode auto_detect""",
    },
    "entity-core": {
        "identity": """
            identity_get_all
            identity_write category filename content instanceId
            identity_append category filename content instanceId
            identity_prepend category filename content instanceId
            identity_update_section category filename section content instanceId
            identity_rewrite_section category filename section content instanceId
            identity_delete_custom filename
            identity_get_meta category filename
            identity_set_meta category filename promptLabel
            snapshot_create
            snapshot_list category filename
            snapshot_get snapshotId
            snapshot_restore snapshotId""",
        "journal": """
            memory_create granularity date content chatIds instanceId participatingInstances slug
            memory_search query instanceId queryEmbedding minScore maxResults
            memory_list granularity limit offset beforeDate afterDate
            memory_read granularity date
            memory_update granularity date content editedBy
            memory_delete granularity date instanceId slug
            memory_consolidate granularity all""",
        "sync": """
            sync_pull instanceId lastSyncVersion
            sync_push instance identityChanges memoryChanges
            sync_status""",
        "mind": """
            graph_node_create type label description properties instanceId confidence embedding
            graph_node_get id
            graph_node_update id label description properties confidence
            graph_node_delete id permanent
            graph_node_search query queryEmbedding type minScore limit
            graph_node_list type includeDeleted limit offset
            graph_edge_create fromId toId type properties weight evidence occurredAt validUntil
            graph_edge_get id fromId toId type
            graph_edge_update id properties weight evidence validUntil
            graph_edge_delete id
            graph_traverse startNodeId direction maxDepth edgeTypes
            graph_subgraph nodeId depth
            graph_insights
            graph_stats
            graph_write_transaction nodes edges""",
    },
    "Graphnosis": {
        "corpus": """
            recall query graphs topK minScore
            remember text graphId target_engram label kind
            correct chunkId proposal
            apply correctionId
            forget chunkId sourceId
            stats""",
    },
}  # fmt: skip
# Settings, commands and rows of each system that are no parameters of tools.
ROWS = {
    "textrawl in TypeScript": "ENABLE_MEMORY COMPACT_RESPONSES description limit outputSchema",
    "mcp-memory": """propose_entity_split_tool execute_entity_split_tool migrate skipped errors
        deleted open_nodes search_nodes create_relations score author consolidation_report""",
    "CortexGraph": """CORTEXGRAPH_STORAGE_PATH CORTEXGRAPH_DECAY_MODEL CORTEXGRAPH_PL_HALFLIFE_DAYS
        CORTEXGRAPH_DECAY_LAMBDA CORTEXGRAPH_DECAY_BETA CORTEXGRAPH_FORGET_THRESHOLD
        CORTEXGRAPH_PROMOTE_THRESHOLD CORTEXGRAPH_PROMOTE_USE_COUNT CORTEXGRAPH_ENABLE_EMBEDDINGS
        CORTEXGRAPH_AUTO_REINFORCE LTM_VAULT_PATH stats compact --storage-path tags similarity
        min_score gc""",
    "entity-core": "ENTITY_CORE_LLM_API_KEY instanceId queryEmbedding",
    "Graphnosis": "target_engram chunkId sensitive stats correct",
}  # fmt: skip


def read_section(system: str) -> str:
    _, _, rest = PAGE.read_text("utf-8").partition(f"## In place of {system}\n")
    return rest.partition("\n## ")[0]


def list_missing(toolset: str, table: str) -> list[str]:
    missing: list[str] = []
    for line in table.strip().splitlines():
        tool, *parameters = line.split()
        snapshot: Path = SNAPSHOTS / toolset / f"{tool}.json"
        if not snapshot.exists():
            missing.append(tool)
            continue
        known = json.loads(snapshot.read_text("utf-8"))["inputSchema"].get("properties", {})
        missing += [f"{tool} {one}" for one in parameters if one not in known]
    return missing


def test_all_79_tools_of_the_five_systems_are_there_with_all_parameters() -> None:
    tables = [item for system in TOOLS.values() for item in system.items()]

    tools = {
        (toolset, line.split()[0])
        for toolset, table in tables
        for line in table.strip().splitlines()
    }
    assert len(tools) == 79
    assert [one for item in tables for one in list_missing(*item)] == []


@pytest.mark.parametrize("system", TOOLS)
def test_each_row_of_a_system_is_there_or_named_on_the_page(system: str) -> None:
    named = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`]+)`", read_section(system)))))

    assert [row for row in ROWS[system].split() if not is_setting(row) and row not in named] == []
    toolsets = re.search(r"TEXTRAWL_TOOLSETS=([\w,]+)", read_section(system))
    assert toolsets
    assert set(TOOLS[system]) <= set(toolsets[1].split(","))


def test_the_variables_of_scores_are_those_that_the_command_reads() -> None:
    rows = dict(
        re.findall(r"\| `(CORTEXGRAPH_\w+)` \| `(\w+)` of the space", PAGE.read_text("utf-8"))
    )

    assert rows == CORTEXGRAPH_NAMES
