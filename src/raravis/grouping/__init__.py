"""Candidate new classes: novel instances in groups, each with its most typical members."""

from raravis.grouping.embedding import Embedding, learn_embedding
from raravis.grouping.groups import Group, Grouping, group_instances, group_novel

__all__ = [
    "Embedding",
    "Group",
    "Grouping",
    "group_instances",
    "group_novel",
    "learn_embedding",
]
