"""Data sets: bags, bag labels and the true class of every instance, with origin and terms."""

from raravis.datasets._base import UNLABELLED, BagDataset, Description
from raravis.datasets._fetch import DatasetError, user_cache
from raravis.datasets.digits import load_digit_bags
from raravis.datasets.generators import draw_bags, make_bags
from raravis.datasets.hja import fetch_hja_birdsong
from raravis.datasets.mnist import fetch_mnist, fetch_mnist_bags, fetch_mnist_components
from raravis.datasets.soundscapes import Soundscapes, make_soundscapes
from raravis.datasets.syllables import Syllables, load_syllables, match_notes, window_bags
from raravis.datasets.toy import TOY_SYMBOLS, load_toy
from raravis.datasets.voices import SPECIES, Species

__all__ = [
    "SPECIES",
    "TOY_SYMBOLS",
    "UNLABELLED",
    "BagDataset",
    "DatasetError",
    "Description",
    "Soundscapes",
    "Species",
    "Syllables",
    "draw_bags",
    "fetch_hja_birdsong",
    "fetch_mnist",
    "fetch_mnist_bags",
    "fetch_mnist_components",
    "load_digit_bags",
    "load_syllables",
    "load_toy",
    "make_bags",
    "make_soundscapes",
    "match_notes",
    "user_cache",
    "window_bags",
]
