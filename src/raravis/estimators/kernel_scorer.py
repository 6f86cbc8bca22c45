"""The paper's estimator: one kernel score function a class, learned from bag labels."""

import warnings
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from raravis._provenance import bag_hashes, restore_provenance, stored_arrays, stored_values
from raravis._state import State, decode_params, encode_labels, encode_params
from raravis._threads import one_blas_thread
from raravis.bags import Bags, as_bags
from raravis.errors import InputError, RaravisWarning
from raravis.estimators._door import (
    learn_scaling,
    learnable,
    require_count,
    require_number,
    seed_of,
)
from raravis.estimators.base import BagNoveltyMixin, label_array
from raravis.kernels import (
    DEFAULT_BUDGET,
    Kernel,
    KernelName,
    automatic_gamma,
    make_kernel,
    median_gamma,
)
from raravis.labels import BagLabels, as_labels
from raravis.landmark_rows import LandmarkRows
from raravis.landmarks import LandmarkChoice
from raravis.progress import ProgressCallback
from raravis.scaling import Scaling, ScalingName
from raravis.score_functions import (
    ScoreFunctions,
    SolverName,
    SolverSettings,
    StartName,
    learn_score_functions,
)
from raravis.selection import Selection, select

__all__ = ["KernelScorer"]

Floats = NDArray[np.floating[Any]]
Tuning = Literal["rule", "training_error", "cross_validation"]

#: The rule that needs no search, chosen on HJA birdsong and MNIST bags. The loss is a mean over
#: bags and classes, the norm a sum over classes, so what fits a class goes with 1 / |Y|.
_LAM_TIMES_CLASSES = 0.024
#: The grid that a search covers, around the rule.
_GAMMA_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
_LAM_FACTORS = (3.0, 1.0, 0.3, 0.1, 0.03)


#: Instances up to which "auto" takes the full kernel, and landmarks above.
_MOST_FULL, _LANDMARKS = 20_000, 2_000


class KernelScorer(BagNoveltyMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel score functions trained from bag labels; an instance is novel if every class is low.

    For each class c, f_c(x) = sum_l alpha_cl k(x, x_l) minimises the regularised hinge loss of the
    best score of every bag. An instance is known if max_c f_c(x) >= ``offset_``, which is 0: the
    loss asks +1 of the best instance of a bag that has the class, and -1 of every instance of a bag
    that has not.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "polynomial", "linear", "precomputed"}, function or kernel
        A function takes two arrays of instances and returns their kernel matrix. With
        "precomputed" the features of an instance are its row of the Gram matrix.
    gamma : float, "auto" or "median"
        Kernel width. "auto" is found by ``tuning``; "median" is 1 / median squared distance.
    lam : float or "auto"
        Regularisation; "auto" is found by ``tuning``.
    tuning : {"rule", "training_error", "cross_validation"}
        How values left "auto" are found: a rule that follows the spread of the data, the paper's
        criterion over a grid, or the balanced error on held-out bags over the same grid.
    scaling : {"minmax", "standard", "robust", "none"}
        Feature scaling, learned from the training instances.
    solver : {"cccp", "alternating"}
        The exact scheme, or Algorithm 1 of the paper as printed.
    init : {"contrast", "random"} or array of shape (n_instances, n_classes)
        Where the exact scheme starts; "alternating" always starts at random.
    n_restarts : int
        Random starts, of which the lowest objective is kept.
    max_rounds : int or None
        Most rounds of a class; None is 50 for the exact scheme, 30 for the paper's.
    tol : float
        Relative duality gap of each inner solution, and relative decrease that ends the rounds.
    degree, coef0 : int, float
        Of the polynomial kernel.
    n_landmarks : int, None or "auto"
        Instances that score functions are sums over, drawn from the training instances; None is
        all of them, the full kernel. "auto" is the full kernel up to 20,000 training instances and
        2,000 landmarks above, with a warning that says so.
    landmarks : {"uniform", "kmeans++", "leverage"}
        How landmarks are chosen.
    memory_budget : int
        Bytes that cached rows of the Gram matrix may take.
    n_jobs : int or None
        Workers over classes, blocks of instances or grid widths, as in joblib. The answer does not
        depend on it.
    random_state : int or None
        Seed of whatever is drawn.

    Attributes
    ----------
    classes_ : array of the known classes, in the order of the columns of ``class_scores``.
    gamma_, lam_ : the values used.
    selection_ : every setting tried, or None.
    objective_ : float, the paper's objective summed over classes.
    n_iter_, converged_ : rounds and convergence of every class.
    n_landmarks_ : number of landmarks, or None for the full kernel.
    n_support_ : number of training instances that the model keeps.
    training_bags_ : hash of every training bag's content, so that calibration can refuse them.

    Examples
    --------
    >>> import numpy as np
    >>> from raravis import Bags, KernelScorer
    >>> wren, owl, unheard = [0.0, 0.0], [4.0, 0.0], [2.0, 4.0]
    >>> bags = Bags.from_list([[wren, unheard], [owl, unheard], [wren, owl], [unheard]])
    >>> model = KernelScorer().fit(bags, [{"wren"}, {"owl"}, {"wren", "owl"}, set()])
    >>> model.annotate(Bags.from_list([[wren, owl, unheard]]))
    array(['wren', 'owl', novel], dtype=object)
    """

    def __init__(
        self,
        kernel: KernelName | Kernel | Callable[[Floats, Floats], Any] = "gaussian",
        *,
        gamma: float | Literal["auto", "median"] = "auto",
        lam: float | Literal["auto"] = "auto",
        tuning: Tuning = "rule",
        scaling: ScalingName = "minmax",
        solver: SolverName = "cccp",
        init: StartName | Floats = "contrast",
        n_restarts: int = 1,
        max_rounds: int | None = None,
        tol: float = 1e-3,
        degree: int = 3,
        coef0: float = 1.0,
        n_landmarks: int | Literal["auto"] | None = "auto",
        landmarks: LandmarkChoice = "uniform",
        memory_budget: int = DEFAULT_BUDGET,
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.lam = lam
        self.tuning = tuning
        self.scaling = scaling
        self.solver = solver
        self.init = init
        self.n_restarts = n_restarts
        self.max_rounds = max_rounds
        self.tol = tol
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.memory_budget = memory_budget
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
        bags = as_bags(X, what=type(self).__name__)
        labels = learnable(bags, as_labels(y, bags))
        scaling = learn_scaling(bags, self.scaling, self.kernel)
        scaled = bags.with_instances(scaling.apply(bags.instances))
        settings = self._solver_settings()
        self.n_landmarks_ = self._landmark_number(bags.n_instances)
        with one_blas_thread():
            gamma, lam, selection = self._choose(scaled, labels, settings, progress)
            learned = learn_score_functions(
                scaled,
                labels,
                self._kernel(gamma),
                lam=lam,
                settings=settings,
                rows=self._landmark_rows(scaled, gamma, settings),
                memory_budget=self.memory_budget,
                progress=progress,
            )
        self.n_features_in_ = bags.n_features
        self.gamma_, self.lam_, self.selection_ = gamma, lam, selection
        self.scaling_ = scaling
        self.training_bags_ = bag_hashes(bags)
        self._keep(learned, labels.classes)
        self._report(learned)
        return self

    def _keep(self, learned: ScoreFunctions, classes: tuple[Any, ...]) -> None:
        self.classes_ = label_array(classes)
        self.offset_ = 0.0
        self.score_functions_ = learned
        self.n_support_ = len(learned.support_indices)

    def _report(self, learned: ScoreFunctions) -> None:
        """Record how the descent ended, and warn where it did not."""
        self.objective_ = float(sum(d.value for d in learned.descents))
        self.n_iter_ = np.array([d.n_iter for d in learned.descents])
        self.converged_ = np.array([d.converged for d in learned.descents])
        if not self.converged_.all() and self.solver == "cccp":
            warnings.warn(
                f"{int((~self.converged_).sum())} of {len(self.converged_)} classes reached the "
                f"limit of {self.n_iter_.max()} rounds; raise max_rounds or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _class_scores(self, bags: Bags) -> NDArray[np.float64]:
        scaled = self.scaling_.apply(bags.instances)
        return self.score_functions_(scaled, budget=self.memory_budget, n_jobs=self.n_jobs)

    def _kernel(self, gamma: float) -> Kernel:
        return make_kernel(self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0)

    def _solver_settings(self) -> SolverSettings:
        return SolverSettings(
            solver=self.solver,
            start=self.init,
            n_restarts=self.n_restarts,
            max_rounds=self.max_rounds,
            tol=self.tol,
            seed=seed_of(self.random_state),
            n_jobs=self.n_jobs,
        )

    def _choose(
        self,
        scaled: Bags,
        labels: BagLabels,
        settings: SolverSettings,
        progress: ProgressCallback | None,
    ) -> tuple[float, float, Selection | None]:
        """Return the width, the regularisation, and what was tried to find them."""
        gammas = self._candidate_gammas(scaled)
        lams = self._candidate_lams(labels.n_classes)
        if len(gammas) == len(lams) == 1 or self.tuning == "rule":
            return gammas[0], lams[0], None
        selection = select(
            scaled,
            labels,
            self._kernel,
            gammas=gammas,
            lams=lams,
            criterion=self.tuning,
            settings=settings,
            memory_budget=self.memory_budget,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        return selection.best.gamma, selection.best.lam, selection

    def _landmark_number(self, n_instances: int) -> int | None:
        if self.n_landmarks is None:
            return None
        fits = self.kernel != "precomputed" and self.solver == "cccp"
        if isinstance(self.n_landmarks, str):
            if not fits or n_instances <= _MOST_FULL:
                return None
            warnings.warn(
                f"{n_instances:,} training instances are many for the full kernel, so score "
                f"functions are sums over {_LANDMARKS} landmarks; pass n_landmarks to choose their "
                "number, or n_landmarks=None for the full kernel.",
                RaravisWarning,
                stacklevel=3,
            )
            return _LANDMARKS
        if not fits:
            raise InputError(
                f"n_landmarks is {self.n_landmarks} with kernel={self.kernel!r} and "
                f"solver={self.solver!r}; landmarks need a kernel of features and solver='cccp'."
            )
        return min(int(self.n_landmarks), n_instances)

    def _landmark_rows(
        self, scaled: Bags, gamma: float, settings: SolverSettings
    ) -> LandmarkRows | None:
        if self.n_landmarks_ is None:
            return None
        return LandmarkRows.of(
            self._kernel(gamma),
            settings.working(scaled.instances),
            self.n_landmarks_,
            choice=self.landmarks,
            seed=settings.seed,
            n_jobs=settings.n_jobs,
        )

    def _candidate_gammas(self, scaled: Bags) -> tuple[float, ...]:
        if not isinstance(self.gamma, str):
            return (float(self.gamma),)
        seed = seed_of(self.random_state)
        if self.gamma == "median":
            return (median_gamma(scaled.instances, seed=seed),)
        ruled = automatic_gamma(self.kernel, scaled.instances, scaled.bag_index, seed=seed)
        if self.tuning == "rule" or self.kernel not in ("gaussian", "laplacian"):
            return (ruled,)
        return tuple(ruled * factor for factor in _GAMMA_FACTORS)

    def _candidate_lams(self, n_classes: int) -> tuple[float, ...]:
        if not isinstance(self.lam, str):
            return (float(self.lam),)
        ruled = _LAM_TIMES_CLASSES / n_classes
        return tuple(
            ruled * factor for factor in ((1.0,) if self.tuning == "rule" else _LAM_FACTORS)
        )

    def _check_parameters(self) -> None:
        require_number("gamma", self.gamma, words=("auto", "median"))
        require_number("lam", self.lam, words=("auto",))
        require_number("tol", self.tol)
        require_count("n_restarts", self.n_restarts)
        require_count("degree", self.degree)
        require_count("memory_budget", self.memory_budget)
        if self.n_landmarks is not None and self.n_landmarks != "auto":
            require_count("n_landmarks", self.n_landmarks)
        if self.max_rounds is not None:
            require_count("max_rounds", self.max_rounds)
        if self.tuning not in ("rule", "training_error", "cross_validation"):
            raise InputError(
                f"tuning is {self.tuning!r}; pass 'rule', 'training_error' or 'cross_validation'."
            )
        if self.tuning != "rule" and not isinstance(self.init, str):
            raise InputError(
                "init is an array of scores, which cannot start the fits on part of the bags that "
                f"tuning={self.tuning!r} makes; pass init='contrast', or gamma and lam as numbers."
            )

    def __raravis_state__(self) -> State:
        check_is_fitted(self)
        if not isinstance(self.kernel, str):
            raise InputError(
                f"kernel is {self.kernel!r}; only a model with a kernel given by name can be "
                "saved. Name one, or save the Gram rows and use kernel='precomputed'."
            )
        learned = self.score_functions_
        return State(
            params=encode_params(self.get_params(deep=False)),
            fitted={
                "classes": encode_labels(self.classes_),
                "n_features_in": self.n_features_in_,
                "gamma": self.gamma_,
                "lam": self.lam_,
                "objective": self.objective_,
                "n_landmarks": self.n_landmarks_,
                **stored_values(self),
            },
            arrays={
                "shift": self.scaling_.shift,
                "scale": self.scaling_.scale,
                "support": learned.support,
                "support_indices": learned.support_indices,
                "weights": learned.weights,
                "n_iter": self.n_iter_,
                "converged": self.converged_,
                **stored_arrays(self),
            },
        )

    @classmethod
    def __raravis_restore__(cls, state: State) -> Self:
        model = cls(**decode_params(state.params))
        model._check_parameters()
        classes = state.labels("classes")
        n_features = int(state.value("n_features_in"))
        model.gamma_, model.lam_ = float(state.value("gamma")), float(state.value("lam"))
        model.objective_ = float(state.value("objective"))
        model.selection_ = None
        drawn = state.fitted.get("n_landmarks")
        model.n_landmarks_ = None if drawn is None else int(state.value("n_landmarks"))
        model.n_features_in_ = n_features
        model.scaling_ = Scaling(
            state.array("shift", kinds="f", shape=(n_features,)),
            state.array("scale", kinds="f", shape=(n_features,)),
        )
        model.n_iter_ = state.array("n_iter", kinds="i", shape=(len(classes),))
        model.converged_ = state.array("converged", kinds="b", shape=(len(classes),))
        weights = state.array("weights", kinds="f", shape=(None, len(classes)))
        # A kernel that is precomputed needs no instances.
        n_support = 0 if model.kernel == "precomputed" else len(weights)
        support = state.array("support", kinds="f", shape=(n_support, n_features))
        indices = state.array("support_indices", kinds="i", shape=(len(weights),))
        model._keep(ScoreFunctions(model._kernel(model.gamma_), support, indices, weights), classes)
        restore_provenance(model, state)
        return model
