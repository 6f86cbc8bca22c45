"""The likelihood model: one class more than the labels know, and bags that list a union."""

import warnings
from collections.abc import Callable
from typing import Any, Literal, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from raravis._provenance import bag_hashes, restore_provenance, stored_arrays, stored_values
from raravis._state import State, decode_params, encode_labels, encode_params
from raravis.bags import Bags, as_bags
from raravis.class_model import (
    ClassModel,
    InitName,
    MStepName,
    Rounds,
    as_step,
    class_model_gamma,
    learn_class_model,
)
from raravis.errors import InputError
from raravis.estimators._door import (
    learn_scaling,
    learnable,
    require_count,
    require_number,
    seed_of,
)
from raravis.estimators._soft_models import restored_model, storable_model
from raravis.estimators.base import label_array
from raravis.estimators.probabilistic import ClassProbabilityMixin
from raravis.kernels import Kernel, make_kernel
from raravis.labels import as_labels
from raravis.landmarks import LandmarkChoice
from raravis.objectives import BagPrevalence, UnionLikelihood
from raravis.objectives.union_likelihood import Impossible
from raravis.progress import ProgressCallback
from raravis.scaling import Scaling, ScalingName
from raravis.solvers import KernelLogistic, MStep

__all__ = ["NovelClassClassifier"]

Floats = NDArray[np.floating[Any]]
KernelChoice = Literal["gaussian", "laplacian", "polynomial", "linear"]


class NovelClassClassifier(ClassProbabilityMixin, BaseEstimator):  # type: ignore[misc]
    """Class probabilities of instances, class 0 being novel, by maximum likelihood of bag labels.

    Every instance is novel or of one known class; a bag lists the known classes that its instances
    have. Expectation maximisation alternates between the exact posterior of every instance given
    the labels of its bag and a model of instances fitted to it. The score of an instance is its
    log-odds of being of a known class, and it is known from even odds (``offset_`` is 0).

    Where ``bag_labels`` are given, the answer is the posterior under them: not only are other
    classes ruled out, each listed class must also have an instance. A bag that lists more classes
    than it has instances is then softened, never refused. With ``context=True`` the other instances
    of a bag count too: bags have class shares of their own (``raravis.objectives.BagPrevalence``).

    Parameters
    ----------
    m_step : {"kernel", "forest"}, M-step or scikit-learn estimator
        How instances are modelled: multinomial logistic regression on landmark features; extremely
        randomised trees, where a training instance is judged by trees that never saw its bag; an
        object with ``prepare`` (``raravis.solvers.MStep``); or a classifier or multi-output
        regressor of scikit-learn.
    kernel : {"gaussian", "laplacian", "polynomial", "linear"}, function or kernel
    gamma : float or "auto"
        Kernel width; "auto" is 4 / mean squared distance for the Gaussian kernel, and follows the
        spread of the data for the others.
    lam : float
        Regularisation of the kernel model.
    n_landmarks : int or None
        Landmarks that the kernel model is made of; None is every instance, the full kernel.
    landmarks : {"uniform", "kmeans++", "leverage"}
        How landmarks are chosen among the instances.
    n_trees : int
        Trees of the forest.
    init : {"auto", "uniform", "kernel"} or array of shape (n_instances, 1 + n_classes)
        Where the rounds start: from equal probabilities, from the posterior of the kernel model, or
        from the class probabilities given. "auto" is "uniform" for the kernel model and "kernel"
        for others.
    novel_weight : float
        Weight of novel against each known class where the start is "uniform".
    scaling : {"minmax", "standard", "robust", "none"}
        Feature scaling, learned from the training instances.
    max_rounds : int or None
        Most rounds; None is 200 for the kernel model, which ends by ``tol``, and 5 for others.
    tol : float
        Gain of the penalised log-likelihood an instance below which rounds end.
    impossible : {"error", "soften"}
        What to do with a training bag that lists more classes than it has instances.
    degree, coef0 : int, float
        Of the polynomial kernel.
    n_jobs : int or None
        Threads over bags, blocks of instances and trees. The answer does not depend on it.
    random_state : int or None
        Seed of whatever is drawn.

    Attributes
    ----------
    classes_ : array of the known classes, in the order of the columns of ``class_scores``.
    gamma_ : the kernel width used.
    path_ : penalised log-likelihood an instance after each round.
    n_iter_, converged_ : rounds, and whether they ended by ``tol`` (or were to be counted).
    model_ : the ``ClassModel`` on scaled features: its model of instances, and how class shares
        vary between bags.
    training_bags_ : hash of every training bag's content, so that calibration can refuse them.

    Examples
    --------
    >>> import numpy as np
    >>> from raravis import Bags, NovelClassClassifier
    >>> wren, owl, unheard = [0.0, 0.0], [4.0, 0.0], [2.0, 4.0]
    >>> bags = Bags.from_list([[wren, unheard], [owl, unheard], [wren, owl], [unheard]])
    >>> model = NovelClassClassifier().fit(bags, [{"wren"}, {"owl"}, {"wren", "owl"}, set()])
    >>> model.annotate(Bags.from_list([[wren, owl, unheard]]))
    array(['wren', 'owl', novel], dtype=object)
    >>> model.posterior(Bags.from_list([[wren, wren]]), bag_labels=[set()]).tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """

    def __init__(
        self,
        m_step: MStepName | Any = "kernel",
        *,
        kernel: KernelChoice | Kernel | Callable[[Floats, Floats], Any] = "gaussian",
        gamma: float | Literal["auto"] = "auto",
        lam: float = 1e-4,
        n_landmarks: int | None = 600,
        landmarks: LandmarkChoice = "uniform",
        n_trees: int = 80,
        init: InitName | Floats = "auto",
        novel_weight: float = 1.0,
        scaling: ScalingName = "minmax",
        max_rounds: int | None = None,
        tol: float = 1e-4,
        impossible: Impossible = "error",
        degree: int = 3,
        coef0: float = 1.0,
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.m_step = m_step
        self.kernel = kernel
        self.gamma = gamma
        self.lam = lam
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.n_trees = n_trees
        self.init = init
        self.novel_weight = novel_weight
        self.scaling = scaling
        self.max_rounds = max_rounds
        self.tol = tol
        self.impossible = impossible
        self.degree = degree
        self.coef0 = coef0
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
        self.gamma_ = self._width(scaled, seed)
        learned = learn_class_model(
            scaled,
            union,
            self._step(),
            kernel_step=self._kernel_step(),
            init=self.init,
            novel_weight=self.novel_weight,
            rounds=Rounds(self.max_rounds, self.tol, seed, self.n_jobs),
            progress=progress,
        )
        self.n_features_in_ = bags.n_features
        self.scaling_ = scaling
        self.training_bags_ = bag_hashes(bags)
        self._keep(learned, labels.classes)
        self._report()
        return self

    def adopt(
        self,
        learned: ClassModel,
        *,
        classes: tuple[Any, ...],
        scaling: Scaling,
        gamma: float,
        training_bags: NDArray[np.uint64],
    ) -> Self:
        """Become the fitted model of what was learned elsewhere, as ``raravis.scale`` does."""
        self.n_features_in_ = len(scaling.shift)
        self.gamma_ = gamma
        self.scaling_ = scaling
        self.training_bags_ = training_bags
        self._keep(learned, classes)
        return self

    def _keep(self, learned: ClassModel, classes: tuple[Any, ...]) -> None:
        self.classes_ = label_array(classes)
        self.offset_ = 0.0
        self.model_ = learned
        self.path_ = np.array(learned.path)
        self.n_iter_ = len(learned.path)
        self.converged_ = learned.converged

    def _report(self) -> None:
        if not self.converged_ and self.max_rounds is None:
            warnings.warn(
                f"the likelihood still rose after {self.n_iter_} rounds; raise max_rounds or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _width(self, scaled: Bags, seed: int) -> float:
        if isinstance(self.gamma, str):
            return class_model_gamma(self.kernel, scaled, seed=seed)
        return float(self.gamma)

    def _step(self) -> MStep:
        return as_step(self.m_step, kernel_step=self._kernel_step(), n_trees=int(self.n_trees))

    def _kernel_step(self) -> KernelLogistic:
        return KernelLogistic(
            self._kernel(),
            lam=float(self.lam),
            n_landmarks=self.n_landmarks,
            landmarks=self.landmarks,
        )

    def _kernel(self) -> Kernel:
        return make_kernel(
            cast(Any, self.kernel), gamma=self.gamma_, degree=self.degree, coef0=self.coef0
        )

    def _check_parameters(self) -> None:
        require_number("gamma", self.gamma, words=("auto",))
        for name in ("lam", "tol", "novel_weight"):
            require_number(name, getattr(self, name))
        for name in ("n_trees", "degree"):
            require_count(name, getattr(self, name))
        for name in ("n_landmarks", "max_rounds"):
            if getattr(self, name) is not None:
                require_count(name, getattr(self, name))
        if isinstance(self.init, str) and self.init not in get_args(InitName):
            raise InputError(
                f"init is {self.init!r}; pass one of {', '.join(get_args(InitName))}, or an array "
                "of class probabilities of shape (n_instances, 1 + n_classes), novel first."
            )
        if isinstance(self.kernel, str) and self.kernel not in get_args(KernelChoice):
            raise InputError(
                f"kernel is {self.kernel!r}; pass one of {', '.join(get_args(KernelChoice))}, a "
                "function of two arrays, or an object with block() and diagonal()."
            )

    # ------------------------------------------------------------------ on disk

    def __raravis_state__(self) -> State:
        check_is_fitted(self)
        values, arrays = storable_model(self.model_.instances)
        given = self.get_params(deep=False)
        for name in ("m_step", "kernel", "init"):
            if not isinstance(given[name], str):
                raise InputError(
                    f"{name} is {given[name]!r}; only a model with {name} given by name can be "
                    "saved."
                )
        return State(
            params=encode_params(given),
            fitted={
                "classes": encode_labels(self.classes_),
                "n_features_in": self.n_features_in_,
                "gamma": self.gamma_,
                "converged": self.converged_,
                **values,
                **stored_values(self),
            },
            arrays={
                "shift": self.scaling_.shift,
                "scale": self.scaling_.scale,
                "path": self.path_,
                "alpha": self.model_.prevalence.alpha,
                "marginal": self.model_.prevalence.marginal,
                **arrays,
                **stored_arrays(self),
            },
        )

    @classmethod
    def __raravis_restore__(cls, state: State) -> Self:
        model = cls(**decode_params(state.params))
        model._check_parameters()
        classes = state.labels("classes")
        n_features = int(state.value("n_features_in"))
        model.n_features_in_ = n_features
        model.gamma_ = float(state.value("gamma"))
        path = state.array("path", kinds="f", shape=(None,))
        model.scaling_ = Scaling(
            state.array("shift", kinds="f", shape=(n_features,)),
            state.array("scale", kinds="f", shape=(n_features,)),
        )
        n_columns = 1 + len(classes)
        urn = BagPrevalence(
            state.array("alpha", kinds="f", shape=(n_columns,)),
            state.array("marginal", kinds="f", shape=(n_columns,)),
        )
        instances = restored_model(state, model._kernel, n_features=n_features, n_columns=n_columns)
        learned = ClassModel(instances, urn, tuple(path.tolist()), bool(state.value("converged")))
        model._keep(learned, classes)
        restore_provenance(model, state)
        return model
