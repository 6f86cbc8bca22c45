"""Candidate new classes: novel instances in groups, and the bags in which to meet them first."""

from raravis.grouping.embedding import Embedding, learn_embedding
from raravis.grouping.groups import Group, Grouping, group_instances, group_novel
from raravis.grouping.queue import DiscoveryQueue, QueuedBag, discovery_queue

__all__ = [
    "DiscoveryQueue",
    "Embedding",
    "Group",
    "Grouping",
    "QueuedBag",
    "discovery_queue",
    "group_instances",
    "group_novel",
    "learn_embedding",
]
