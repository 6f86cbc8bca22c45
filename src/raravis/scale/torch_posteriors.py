"""Posteriors of many bags at once on a torch device: the passes over label subsets, in batches.

Bags with as many labels, and about as many instances, go through the same steps together. Short
bags are filled up with instances that are novel for certain, which change nothing. Weights are
scaled to a largest entry of one, as in ``raravis._subsets``; the few bags for which that is not
safe, and those with too many labels for the exact answer, are left to the processor.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raravis.objectives import UnionLikelihood
from raravis.scale.problem import bags_of

if TYPE_CHECKING:
    import torch

__all__ = ["Batches", "posterior_errors"]

Indices = NDArray[np.int64]

#: Scaled to one, a total above this has lost nothing that a double can show.
_SAFE_TOTAL = 1e-200
#: Entries of the tables of one batch: 512 MiB of doubles.
_MOST_ENTRIES = 1 << 26


@dataclass(frozen=True)
class _Batch:
    """Bags of as many labels: their rows (-1: none), label columns, and places among the bags."""

    rows: "torch.Tensor"
    columns: "torch.Tensor"
    missed: "torch.Tensor"
    bags: Indices


@dataclass(frozen=True)
class Batches:
    """The bags of a tile on a device, and those that are left to the processor."""

    union: UnionLikelihood
    batches: tuple[_Batch, ...]
    free_rows: "torch.Tensor"
    left: Indices

    @classmethod
    def of(cls, union: UnionLikelihood, device: Any) -> "Batches":
        """Sort the bags by their labels and size, once for all passes."""
        import torch

        sizes, n_labels = np.diff(union.offsets), np.diff(union.present_starts)
        free = np.diff(union.unknown_starts) > 0
        # Lists of bags are complete or not there at all: see raravis.scale.parts.
        left = np.flatnonzero(union.approximated & ~free)
        steps = np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
        kinds = np.where(free | union.approximated | (sizes == 0), -1, n_labels * 64 + steps)
        batches: list[_Batch] = []
        for kind in np.unique(kinds[kinds >= 0]):
            bags = np.flatnonzero(kinds == kind)
            entries = (int(sizes[bags].max()) + 1) << int(n_labels[bags[0]])
            shares = np.array_split(bags, -(-len(bags) * entries // _MOST_ENTRIES))
            batches += [_batch(union, share, device) for share in shares]
        rows = np.flatnonzero(np.repeat(free, sizes))
        return cls(union, tuple(batches), torch.as_tensor(rows, device=device), left)


def _batch(union: UnionLikelihood, bags: Indices, device: Any) -> _Batch:
    import torch

    starts, sizes = union.offsets[bags], np.diff(union.offsets)[bags]
    place = np.arange(sizes.max())
    rows = np.where(place < sizes[:, None], starts[:, None] + place, -1)
    n_labels = int(union.present_starts[bags[0] + 1] - union.present_starts[bags[0]])
    at = union.present_starts[bags][:, None] + np.arange(n_labels)
    columns = union.present[at] if n_labels else np.empty((len(bags), 0), dtype=np.int64)
    return _Batch(
        torch.as_tensor(rows, device=device),
        torch.as_tensor(columns, device=device),
        torch.as_tensor(union.missed[bags], device=device),
        bags,
    )


def posterior_errors(
    log_p: "torch.Tensor", batches: Batches
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """Return probabilities minus posteriors of all instances, and the total log-likelihood."""
    import torch

    Q = torch.zeros_like(log_p)
    if len(batches.free_rows):
        Q[batches.free_rows] = log_p[batches.free_rows].exp()
    value = torch.zeros((), dtype=log_p.dtype, device=log_p.device)
    left = [batches.left]
    for batch in batches.batches:
        q, log_likelihood, safe = _passes(_weights(log_p, batch), batch.missed)
        value += log_likelihood[safe].sum()
        if not bool(safe.all()):
            left.append(batch.bags[~safe.cpu().numpy()])
        there = (batch.rows >= 0) & safe[:, None]
        rows = batch.rows[there]
        Q[rows, 0] = q[..., 0][there]
        for k in range(batch.columns.shape[1]):
            columns = batch.columns[:, k, None].expand(batch.rows.shape)[there]
            Q[rows, columns] = q[..., k + 1][there]
    for bag in np.concatenate(left):
        value += _on_processor(log_p, batches.union, int(bag), Q)
    return log_p.exp() - Q, value


def _weights(log_p: "torch.Tensor", batch: _Batch) -> "torch.Tensor":
    """Return the log weights (bags, instances, 1 + labels); filling is novel for certain."""
    import torch

    rows = batch.rows.clamp_min(0)
    columns = (
        torch.cat([torch.zeros_like(batch.columns[:, :1]), batch.columns], 1)
        if (batch.columns.shape[1])
        else torch.zeros((len(rows), 1), dtype=rows.dtype, device=rows.device)
    )
    L = log_p[rows[:, :, None], columns[:, None, :]]
    nothing = torch.full_like(L[0, 0], -torch.inf)
    nothing[0] = 0.0
    return torch.where((batch.rows >= 0)[:, :, None], L, nothing)


def _passes(
    L: "torch.Tensor", missed: "torch.Tensor"
) -> tuple["torch.Tensor", "torch.Tensor", "torch.Tensor"]:
    """Pass forward and backward over label subsets; say of which bags nothing was lost."""
    import torch

    n_bags, n, width = L.shape
    m, n_masks = width - 1, 1 << (width - 1)
    largest = L.max(dim=2, keepdim=True).values
    W = (L - largest).exp()
    total = largest.sum(dim=(1, 2))
    stay = W @ _held(m, L)
    alpha = L.new_zeros((n + 1, n_bags, n_masks))
    alpha[0, :, 0] = 1.0
    for j in range(n):
        new = alpha[j] * stay[:, j]
        for k in range(m):
            without, having = _halves(alpha[j], k), _halves(new, k)
            having[:, :, 1] += without[:, :, 0] * W[:, j, k + 1, None, None]
        top = new.max(dim=1, keepdim=True).values
        total = total + top[:, 0].log()
        alpha[j + 1] = new / top
    beta = _last(m, missed)
    end = (alpha[n] * beta).sum(dim=1)
    safe = end >= _SAFE_TOTAL
    q = torch.empty_like(L)
    for j in range(n - 1, -1, -1):
        before, w = alpha[j], W[:, j]
        q[:, j, 0] = w[:, 0] * (before * beta).sum(dim=1)
        earlier = beta * stay[:, j]
        for k in range(m):
            b, later, out = _halves(before, k), _halves(beta, k)[:, :, 1], _halves(earlier, k)
            q[:, j, k + 1] = w[:, k + 1] * ((b[:, :, 0] + b[:, :, 1]) * later).sum(dim=(1, 2))
            out[:, :, 0] += w[:, k + 1, None, None] * later
        beta = earlier / earlier.max(dim=1, keepdim=True).values
    mass = q.sum(dim=2, keepdim=True)
    safe = safe & (mass[:, :, 0] >= _SAFE_TOTAL).all(dim=1)
    return q / mass, total + end.log(), safe


def _halves(table: "torch.Tensor", k: int) -> "torch.Tensor":
    """View masks as (higher bits, bit k, lower bits)."""
    return table.view(len(table), -1, 2, 1 << k)


def _held(m: int, like: "torch.Tensor") -> "torch.Tensor":
    """Return (1 + m, 2^m): whether an instance of a class adds no label to a mask."""
    masks = np.arange(1 << m)
    held = np.vstack([np.ones_like(masks), *((masks >> k) & 1 for k in range(m))])
    return like.new_tensor(held)


def _last(m: int, missed: "torch.Tensor") -> "torch.Tensor":
    masks = np.arange(1 << m)
    absent = m - sum(((masks >> k) & 1 for k in range(m)), np.zeros_like(masks))
    return missed[:, None] ** missed.new_tensor(absent)


def _on_processor(
    log_p: "torch.Tensor", union: UnionLikelihood, bag: int, Q: "torch.Tensor"
) -> float:
    import torch

    start, stop = int(union.offsets[bag]), int(union.offsets[bag + 1])
    found = bags_of(union, bag, bag + 1).posterior(log_p[start:stop].cpu().numpy())
    Q[start:stop] = torch.as_tensor(found.instances, device=Q.device)
    return float(found.log_likelihood[0])
