"""The arguments of each tool: one struct per tool, for its schema and to check calls."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Text = Annotated[str, Meta(min_length=1)]
MemoryId = Annotated[str, Meta(min_length=1, max_length=200, description="the id that `remember` or `recall` returned")]
MemoryIds = Annotated[list[str], Meta(min_length=1, max_length=1_000)]
Share = Annotated[float, Meta(ge=0, le=1)]
Limit = Annotated[int, Meta(ge=1, le=100)]
Namespace = Annotated[str, Meta(description="a letter, then letters, digits, `_` and `-`, 63 at most")]


class Arguments(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of every tool."""

    agent_id: Annotated[str, Meta(max_length=200, description="the calling agent's id")] | UnsetType = UNSET


class InProject(Arguments, kw_only=True):
    project: (
        Annotated[str, Meta(max_length=1_024, description="default: the current one; `*`: all projects")] | UnsetType
    ) = UNSET


class OneMemory(Struct, kw_only=True, omit_defaults=True):
    """A text to remember, in a batch. The batch rejects invalid ones one by one, so few checks are made here."""

    content: Annotated[str, Meta(description="one fact, with its reason; 100,000 characters at most")]
    namespace: Namespace = "default"
    tags: list[str] = []
    importance: Share = 0.5
    metadata: dict[str, Any] = {}


class Remember(InProject, kw_only=True):
    content: Annotated[str, Meta(min_length=1, description="one fact, with its reason; 100,000 characters at most")]
    namespace: Namespace = "default"
    tags: list[str] = []
    importance: Share = 0.5
    metadata: dict[str, Any] = {}
    idempotency_key: Annotated[str, Meta(description="a repeated key does not store again")] | UnsetType = UNSET


class RememberBatch(InProject, kw_only=True):
    memories: Annotated[list[OneMemory], Meta(min_length=1, max_length=1_000)]


class Recall(InProject, kw_only=True):
    query: Text
    limit: Limit = 5
    namespace: Namespace | UnsetType = UNSET
    min_similarity: Share = 0.0


class HybridRecall(Recall, kw_only=True):
    alpha: Annotated[float, Meta(ge=0, le=1, description="1: only by meaning, 0: only by words")] = 0.5


class Nearby(InProject, kw_only=True):
    memory_id: MemoryId
    limit: Limit = 5


class Forget(Arguments, kw_only=True):
    memory_id: MemoryId


class ForgetBatch(Arguments, kw_only=True):
    memory_ids: MemoryIds


class Health(Arguments, kw_only=True):
    verbose: bool = False


class Journey(InProject, kw_only=True):
    start_id: MemoryId
    end_id: MemoryId
    steps: Annotated[int, Meta(ge=2, le=20)] = 10
    namespace: Namespace | UnsetType = UNSET


class Wander(InProject, kw_only=True):
    start_id: Annotated[str, Meta(description="default: a random memory")] | UnsetType = UNSET
    steps: Annotated[int, Meta(ge=1, le=20)] = 10
    temperature: Annotated[float, Meta(ge=0, le=1, description="0: always go to the nearest one")] = 0.5
    namespace: Namespace | UnsetType = UNSET


class Regions(InProject, kw_only=True):
    min_cluster_size: Annotated[int, Meta(ge=2, le=50)] = 3
    max_clusters: Annotated[int, Meta(ge=1, le=100)] | UnsetType = UNSET
    namespace: Namespace | UnsetType = UNSET


class Visualize(InProject, kw_only=True):
    format: Literal["json", "mermaid", "svg"] = "json"
    dimensions: Literal[2, 3] = 2
    include_edges: bool = True
    namespace: Namespace | UnsetType = UNSET


class Decay(InProject, kw_only=True):
    function: Literal["exponential", "linear", "step"] = "exponential"
    half_life_days: Annotated[float, Meta(ge=1, le=365)] = 30
    min_importance: Share = 0.1
    access_weight: Share = 0.3
    namespace: Namespace | UnsetType = UNSET
    dry_run: bool = True


class Reinforce(Arguments, kw_only=True):
    memory_ids: MemoryIds
    boost_type: Literal["additive", "multiplicative", "set_value"] = "additive"
    boost_amount: Annotated[float, Meta(ge=0, le=10)] = 0.1
    update_access: bool = True


class Extract(InProject, kw_only=True):
    text: Text
    namespace: Namespace = "extracted"
    min_confidence: Share = 0.5
    deduplicate: bool = True
    dedup_threshold: Share = 0.9


class Consolidate(InProject, kw_only=True):
    namespace: Namespace
    similarity_threshold: Share = 0.85
    strategy: Literal["keep_newest", "keep_oldest", "keep_highest_importance", "merge_content"] = (
        "keep_highest_importance"
    )
    dry_run: bool = True
    max_groups: Annotated[int, Meta(ge=1, le=1_000)] = 50


class Stats(InProject, kw_only=True):
    pass


class DeleteNamespace(InProject, kw_only=True):
    namespace: Namespace
    confirm: bool = False
    dry_run: bool = True


class RenameNamespace(InProject, kw_only=True):
    old_namespace: Namespace
    new_namespace: Namespace


class ExportMemories(InProject, kw_only=True):
    output_path: Annotated[str, Meta(min_length=1, description="a new file; relative to the folder you work in")]
    format: Literal["json", "csv"] | UnsetType = UNSET
    namespace: Namespace | UnsetType = UNSET


class ImportMemories(InProject, kw_only=True):
    source_path: Annotated[str, Meta(min_length=1, description="relative to the folder you work in")]
    format: Literal["json", "csv"] | UnsetType = UNSET
    dry_run: bool = True
    dedup_threshold: Share = 0.95


class SetupHooks(Arguments, kw_only=True):
    client: str = "claude-code"
    python_path: Annotated[str, Meta(description="not needed, ignored")] | UnsetType = UNSET
    include_session_start: bool = True
    include_mcp_config: bool = True


class Why(InProject, kw_only=True):
    id: Annotated[str, Meta(min_length=1, max_length=200, description="an id, its first characters, or `last`")] = (
        "last"
    )


class Session(InProject, kw_only=True):
    session_id: Annotated[str, Meta(min_length=1, max_length=200, description="or `last`")] = "last"


class Sessions(InProject, kw_only=True):
    limit: Limit = 10


class Efforts(Arguments, kw_only=True):
    effort_id: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
