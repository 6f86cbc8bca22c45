"""The detector to start with: everything it needs to choose follows from the training bags."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from raravis._provenance import bag_hashes, restore_provenance, stored_arrays, stored_values
from raravis._state import State, decode_params, encode_labels, encode_params
from raravis.bags import as_bags
from raravis.class_model import ClassModel, class_model_gamma
from raravis.detector_model import Correction, DetectorModel, learn_detector_model
from raravis.errors import ModelFileError
from raravis.estimators._door import (
    learn_scaling,
    learnable,
    require_count,
    require_number,
    seed_of,
)
from raravis.estimators._soft_models import restored_model, storable_model
from raravis.estimators.base import label_array
from raravis.estimators.probabilistic import ClassProbabilityMixin, IntArray
from raravis.kernels import Gaussian
from raravis.labels import as_labels
from raravis.objectives import BagPrevalence, UnionLikelihood
from raravis.objectives.union_likelihood import Impossible
from raravis.progress import ProgressCallback
from raravis.scaling import Scaling, ScalingName
from raravis.solvers import KernelLogistic, TreeForest

__all__ = ["NoveltyDetector"]

Arrays = Mapping[str, NDArray[Any]]

#: The judges of a detector, in their order, by which they are found on disk.
_JUDGES = ("forest", "kernel")
_CORRECTIONS = ("alone", "in_context")


class NoveltyDetector(ClassProbabilityMixin, BaseEstimator):  # type: ignore[misc]
    """Says of every instance which class it is, or that it is novel; needs no settings.

    A kernel model and a forest learn class probabilities, novel being a class, by the likelihood of
    the bags' labels; they teach each other in the light of whole bags, and judge together. The
    score of an instance is its log-odds of being of a known class, corrected so that even odds
    (``offset_`` is 0) are where known ends: no labelled instance is needed for that.

    Every answer can be had in four ways. By default an instance is judged on its own. With
    ``context=True`` the other instances of its bag count too, for bags have class shares of their
    own: better wherever scored bags are like training bags, such as whole recordings. With
    ``bag_labels`` the answer is the posterior under them: only listed classes are possible, and
    each must have an instance. Both can be combined.

    Parameters
    ----------
    scaling : {"minmax", "standard", "robust", "none"}
        Feature scaling, learned from the training instances.
    gamma : float or "auto"
        Width of the Gaussian kernel; "auto" is 4 / mean squared distance of training instances.
    lam : float
        Regularisation of the kernel model.
    n_landmarks : int or None
        Landmarks that the kernel model is made of; None is every instance, the full kernel.
    n_trees : int
        Trees of the forest.
    impossible : {"error", "soften"}
        What to do with a training bag that lists more classes than it has instances: refuse it, or
        let any of its classes have no instance, at a price.
    n_jobs : int or None
        Threads over bags, blocks of instances and trees. The answer does not depend on it.
    random_state : int or None
        Seed of whatever is drawn.

    Attributes
    ----------
    classes_ : array of the known classes, in the order of the columns of ``class_scores``.
    gamma_ : the kernel width used.
    model_ : the ``DetectorModel`` on scaled features.
    training_bags_ : hash of every training bag's content, so that calibration can refuse them.

    Examples
    --------
    >>> import numpy as np
    >>> from raravis import Bags, NoveltyDetector
    >>> rng = np.random.default_rng(0)
    >>> wren, owl, unheard = [0.0, 0.0], [4.0, 0.0], [2.0, 4.0]
    >>> kinds = [[wren, unheard], [owl, unheard], [wren, owl], [unheard]] * 10
    >>> bags = Bags.from_list([np.array(kind) + 0.1 * rng.random(2) for kind in kinds])
    >>> labels = [{"wren"}, {"owl"}, {"wren", "owl"}, set()] * 10
    >>> model = NoveltyDetector().fit(bags, labels)
    >>> new = Bags.from_list([[wren, owl, unheard]])
    >>> model.annotate(new)
    array(['wren', 'owl', novel], dtype=object)
    >>> model.predict(new, bag_labels=[{"wren", "owl"}], context=True)
    array([ 1,  1, -1])
    """

    def __init__(
        self,
        *,
        scaling: ScalingName = "minmax",
        gamma: float | Literal["auto"] = "auto",
        lam: float = 1e-4,
        n_landmarks: int | None = 600,
        n_trees: int = 80,
        impossible: Impossible = "error",
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.scaling = scaling
        self.gamma = gamma
        self.lam = lam
        self.n_landmarks = n_landmarks
        self.n_trees = n_trees
        self.impossible = impossible
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, progress: ProgressCallback | None = None) -> Self:
        """Learn from bags and their labels.

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        y : BagLabels, list of sets (None = unlabelled), indicator matrix, or one label a bag
        progress : function of a ``raravis.progress.Progress``, optional

        Returns
        -------
        self
        """
        self._check_parameters()
        seed = seed_of(self.random_state)
        bags = as_bags(X, what=type(self).__name__)
        labels = learnable(bags, as_labels(y, bags))
        union = UnionLikelihood.from_bags(bags, labels, impossible=self.impossible)
        scaling = learn_scaling(bags, self.scaling, None)
        scaled = bags.with_instances(scaling.apply(bags.instances))
        auto = isinstance(self.gamma, str)
        self.gamma_ = (
            class_model_gamma("gaussian", scaled, seed=seed) if auto else float(self.gamma)
        )
        model = learn_detector_model(
            scaled,
            union,
            kernel=KernelLogistic(
                self._kernel(), lam=float(self.lam), n_landmarks=self.n_landmarks
            ),
            forest=TreeForest(n_trees=int(self.n_trees)),
            seed=seed,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        self.n_features_in_ = bags.n_features
        self.scaling_ = scaling
        self.training_bags_ = bag_hashes(bags)
        self._keep(model, labels.classes)
        return self

    def _keep(self, model: DetectorModel, classes: tuple[Any, ...]) -> None:
        self.classes_ = label_array(classes)
        self.offset_ = 0.0
        self.model_ = model

    def _kernel(self) -> Gaussian:
        return Gaussian(self.gamma_)

    def _check_parameters(self) -> None:
        require_number("gamma", self.gamma, words=("auto",))
        require_number("lam", self.lam)
        require_count("n_trees", self.n_trees)
        if self.n_landmarks is not None:
            require_count("n_landmarks", self.n_landmarks)

    def predict_bags(self, X: Any, *, context: bool = True) -> IntArray:
        """Say which classes each bag holds (1), those of a probability of at least a half.

        Parameters
        ----------
        X : Bags, list of 2-D arrays, or 2-D array (one bag a row)
        context : bool
            Whether instances of a bag count as evidence for one another: here they do unless told
            otherwise, for it is the bag that is judged.

        Returns
        -------
        ndarray of int of shape (n_bags, n_classes)
            An empty bag holds no class.
        """
        return super().predict_bags(X, context=context)

    # ------------------------------------------------------------------ on disk

    def __raravis_state__(self) -> State:
        check_is_fitted(self)
        fitted: dict[str, Any] = {
            "classes": encode_labels(self.classes_),
            "n_features_in": self.n_features_in_,
            "gamma": self.gamma_,
        }
        arrays = {"shift": self.scaling_.shift, "scale": self.scaling_.scale}
        for name, judge in zip(_JUDGES, self.model_.judges, strict=True):
            values, parts = storable_model(judge.instances)
            parts = {**parts, "alpha": judge.prevalence.alpha}
            parts["marginal"] = judge.prevalence.marginal
            fitted |= {f"{name}_{key}": value for key, value in values.items()}
            arrays |= {f"{name}_{key}": part for key, part in parts.items()}
        for name in _CORRECTIONS:
            correction = getattr(self.model_, name)
            fitted[name] = [correction.intercept, correction.slope]
        return State(
            params=encode_params(self.get_params(deep=False)),
            fitted={**fitted, **stored_values(self)},
            arrays={**arrays, **stored_arrays(self)},
        )

    @classmethod
    def __raravis_restore__(cls, state: State) -> Self:
        model = cls(**decode_params(state.params))
        model._check_parameters()
        classes = state.labels("classes")
        n_features = int(state.value("n_features_in"))
        model.n_features_in_ = n_features
        model.gamma_ = float(state.value("gamma"))
        model.scaling_ = Scaling(
            state.array("shift", kinds="f", shape=(n_features,)),
            state.array("scale", kinds="f", shape=(n_features,)),
        )
        judges = tuple(model._restored_judge(state, name, 1 + len(classes)) for name in _JUDGES)
        corrections = {name: _restored_correction(state, name) for name in _CORRECTIONS}
        model._keep(DetectorModel(judges, **corrections), classes)
        restore_provenance(model, state)
        return model

    def _restored_judge(self, state: State, name: str, n_columns: int) -> ClassModel:
        part = _part(state, name)
        instances = restored_model(
            part, self._kernel, n_features=self.n_features_in_, n_columns=n_columns
        )
        prevalence = BagPrevalence(
            part.array("alpha", kinds="f", shape=(n_columns,)),
            part.array("marginal", kinds="f", shape=(n_columns,)),
        )
        return ClassModel(instances, prevalence)


def _part(state: State, name: str) -> State:
    """Return the values and arrays of one judge, under their own names."""

    def own(found: Mapping[str, Any]) -> dict[str, Any]:
        start = f"{name}_"
        return {key.removeprefix(start): v for key, v in found.items() if key.startswith(start)}

    return State(fitted=own(state.fitted), arrays=own(state.arrays))


def _restored_correction(state: State, name: str) -> Correction:
    found = state.value(name)
    proper = isinstance(found, list) and len(found) == 2
    if not proper or not all(isinstance(v, float) and np.isfinite(v) for v in found):
        raise ModelFileError(
            f"{name!r} of the model file is {found!r}; expected an intercept and a slope."
        )
    return Correction(*found)
