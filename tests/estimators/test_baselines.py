"""The one-class rivals: what they learn from, how they score, what they refuse."""

import numpy as np
import pytest
from sklearn.base import clone

from raravis import Bags
from raravis.errors import InputError
from raravis.estimators.baselines import OneClassBaseline

METHODS = ("ocsvm", "iforest", "lof", "knn", "mahalanobis")


@pytest.fixture(scope="module")
def cloud():
    """Bags of ordinary instances around 0, every fourth with no known class and far away."""
    rng = np.random.default_rng(0)
    bags = [rng.normal(8.0 if i % 4 == 3 else 0.0, 1.0, (12, 3)) for i in range(16)]
    labels = [set() if i % 4 == 3 else {"wren"} for i in range(16)]
    return Bags.from_list(bags), labels


@pytest.fixture(scope="module")
def fresh():
    rng = np.random.default_rng(1)
    bags = Bags.from_list([rng.normal(0, 1, (40, 3)), rng.normal(8, 1, (40, 3))])
    return bags, np.repeat([True, False], 40)


@pytest.mark.parametrize("method", METHODS)
def test_known_instances_score_high(method, cloud, fresh):
    model = OneClassBaseline(method).fit(*cloud)
    bags, known = fresh
    scores = model.score_samples(bags)
    assert scores.shape == (80,)
    assert scores[known].min() > np.median(scores[~known])
    assert np.array_equal(model.predict(bags), np.where(model.decision_function(bags) >= 0, 1, -1))
    assert (model.predict(bags)[~known] == -1).all()


@pytest.mark.parametrize("method", METHODS)
def test_positive_bags_leave_out_bags_without_a_known_class(method, cloud):
    bags, labels = cloud
    by_labels = OneClassBaseline(method).fit(bags, labels)
    mask = np.repeat([bool(listed) for listed in labels], 12)
    by_mask = OneClassBaseline(method, instances=mask).fit(bags)
    assert by_labels.n_training_ == mask.sum() == 144
    assert np.array_equal(by_labels.score_samples(bags), by_mask.score_samples(bags))
    assert OneClassBaseline(method, instances="all").fit(bags).n_training_ == 192


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_scores_and_clone_keeps_parameters(method, cloud, fresh):
    model = OneClassBaseline(method, random_state=3).fit(*cloud)
    again = clone(model).fit(*cloud)
    assert np.array_equal(model.score_samples(fresh[0]), again.score_samples(fresh[0]))


@pytest.mark.parametrize("method", METHODS)
def test_scores_do_not_depend_on_feature_units(method, cloud, fresh):
    bags, labels = cloud
    units = np.array([1.0, 1024.0, 0.125])
    plain = OneClassBaseline(method).fit(bags, labels)
    scaled = OneClassBaseline(method).fit(bags.with_instances(bags.instances * units), labels)
    shifted = fresh[0].with_instances(fresh[0].instances * units)
    np.testing.assert_allclose(
        scaled.score_samples(shifted), plain.score_samples(fresh[0]), rtol=1e-6
    )


def test_nearest_neighbour_distance_by_hand():
    bags = Bags.from_list([[[0.0], [1.0], [3.0]]])
    model = OneClassBaseline("knn", n_neighbors=2, scaling="none", instances="all").fit(bags)
    assert model.score_samples([[[4.0], [0.5]]]).tolist() == [-3.0, -0.5]


def test_more_neighbours_than_instances_are_cut_to_what_there_is():
    bags = Bags.from_list([[[0.0], [1.0], [3.0]]])
    model = OneClassBaseline("knn", n_neighbors=50, scaling="none", instances="all").fit(bags)
    assert model.score_samples([[[0.0]]]).tolist() == [-1.0]


@pytest.mark.parametrize("method", METHODS)
def test_constant_features_and_empty_bags_are_scored(method):
    bags = Bags.from_list([np.ones((30, 2)), np.empty((0, 2))])
    model = OneClassBaseline(method).fit(bags, [{"a"}, {"a"}])
    assert np.isfinite(model.score_samples(bags)).all()
    assert model.score_samples(Bags.from_list([np.empty((0, 2))])).shape == (0,)


@pytest.mark.parametrize(
    ("settings", "labels", "message"),
    [
        ({"method": "svm"}, [{"a"}], "method is 'svm'.*ocsvm"),
        ({"nu": 0.0}, [{"a"}], "nu is 0.0"),
        ({"nu": 1.5}, [{"a"}], "nu is 1.5"),
        ({"gamma": -1.0}, [{"a"}], "gamma is -1.0"),
        ({"gamma": "scale"}, [{"a"}], "gamma is 'scale'"),
        ({"n_neighbors": 0}, [{"a"}], "n_neighbors is 0"),
        ({"scaling": "max"}, [{"a"}], "scaling is 'max'"),
        ({"instances": "some"}, [{"a"}], "instances is 'some'"),
        ({"instances": np.ones(2, bool)}, [{"a"}], "instances has shape"),
        ({"instances": np.ones(3)}, [{"a"}], "instances has shape"),
        ({}, None, "y is None"),
        ({}, [set()], "0 training instances"),
    ],
)
def test_bad_input_is_refused_with_advice(settings, labels, message):
    bags = Bags.from_list([[[0.0], [1.0], [2.0]]])
    if labels == [set()]:
        from raravis import BagLabels

        labels = BagLabels.from_sets([set()], classes=["a"])
    with pytest.raises(InputError, match=message):
        OneClassBaseline(**settings).fit(bags, labels)


def test_other_number_of_features_is_refused(cloud):
    model = OneClassBaseline("knn").fit(*cloud)
    with pytest.raises(InputError, match="features"):
        model.score_samples([[[1.0, 2.0]]])
