from fractions import Fraction

import numpy as np

from raravis.datasets import TOY_SYMBOLS, load_toy


def test_bags_and_labels_are_those_of_the_paper():
    data = load_toy()
    symbols = [[TOY_SYMBOLS[column] for column in bag.argmax(axis=1)] for bag in data.bags]
    assert symbols == [
        ["up", "up", "square", "down"],
        ["up", "up", "lozenge", "down"],
        ["square", "square", "square", "lozenge", "lozenge"],
        ["up", "up", "square"],
    ]
    assert data.labels.to_sets() == [{"I", "II"}, {"I"}, {"II"}, {"I", "II"}]
    np.testing.assert_array_equal(data.bags.instances.sum(axis=1), 1)


def test_concurrence_rates_are_those_of_the_paper():
    data = load_toy()
    held = np.array([bag.max(axis=0) > 0 for bag in data.bags])
    rates = {
        (name, symbol): Fraction(int((held[:, i] == data.labels.present[:, c]).sum()), 4)
        for c, name in enumerate(data.labels.classes)
        for i, symbol in enumerate(TOY_SYMBOLS)
    }
    assert rates == {
        ("I", "up"): 1,
        ("I", "down"): Fraction(3, 4),
        ("I", "square"): Fraction(1, 2),
        ("I", "lozenge"): Fraction(1, 4),
        ("II", "up"): Fraction(1, 2),
        ("II", "down"): Fraction(1, 4),
        ("II", "square"): 1,
        ("II", "lozenge"): Fraction(1, 4),
    }


def test_truth_is_what_the_labels_determine():
    data = load_toy()
    symbols = np.array(TOY_SYMBOLS)[data.instance_ids]
    np.testing.assert_array_equal(data.known(["I"]), symbols == "up")
    np.testing.assert_array_equal(data.known(["II"]), symbols == "square")
    np.testing.assert_array_equal(data.known(["III"]), symbols == "lozenge")
    np.testing.assert_array_equal(data.labelled, symbols != "down")
