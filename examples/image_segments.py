"""Images as bags: segments found in pictures, of which only the things in them are listed.

Pictures are made up by scattering handwritten digits over a canvas. Each is cut into segments
(regions of ink), each segment is described by its pixels, and the list of a picture names the
digits in it, but never a 5.
"""

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits

from raravis import NOVEL, Bags, NovelClassClassifier

SIDE, CELL = 48, 16
LISTED = {0, 1, 4, 7}
HIDDEN = 5


def picture(rng: np.random.Generator, images: np.ndarray, digits: np.ndarray) -> tuple:
    """Return a canvas with digits on it, and where each of them stands."""
    canvas, truth = np.zeros((SIDE, SIDE)), {}
    for cell in rng.choice((SIDE // CELL) ** 2, rng.integers(3, 6), replace=False):
        row = rng.integers(len(digits))
        y, x = (CELL * np.array(divmod(cell, SIDE // CELL)) + rng.integers(1, 7, 2)).tolist()
        canvas[y : y + 8, x : x + 8] = images[row]
        truth[y // CELL, x // CELL] = int(digits[row])
    return canvas, truth


def segments(canvas: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Cut a picture into connected regions of ink, each shown in a frame of 8 by 8."""
    regions, n = ndimage.label(ndimage.binary_dilation(canvas > 2, iterations=1))
    frames, places = [], []
    for box, region in zip(ndimage.find_objects(regions), range(1, n + 1), strict=True):
        ink = np.where(regions[box] == region, canvas[box], 0.0)
        zoom = (8 / ink.shape[0], 8 / ink.shape[1])
        frames.append(ndimage.zoom(ink, zoom, order=1).ravel())
        places.append(tuple((side.start + side.stop) // 2 // CELL for side in box))
    return np.array(frames), places


def main() -> None:
    rng = np.random.default_rng(0)
    data = load_digits()
    chosen = np.isin(data.target, [*LISTED, HIDDEN])
    images, digits = data.images[chosen], data.target[chosen]

    bags, lists, truth = [], [], []
    for _ in range(150):
        canvas, things = picture(rng, images, digits)
        frames, places = segments(canvas)
        bags.append(frames)
        lists.append(set(things.values()) & LISTED)
        truth.extend(things.get(place) for place in places)
    train, test = np.arange(100), np.arange(100, 150)
    every = Bags.from_list(bags)
    print(f"segments of 150 pictures: {every}")

    model = NovelClassClassifier(impossible="soften")
    model.fit(every.take(train), [lists[i] for i in train])
    said = model.annotate(every.take(test))
    true = np.array(truth, dtype=object)[np.isin(every.bag_index, test)]
    hidden = true == HIDDEN
    novel = np.array([one is NOVEL for one in said])
    right = np.array([t == s for t, s in zip(true, said, strict=True)])
    print(f"segments of listed digits named rightly: {right[~hidden].mean():.0%}")
    print(f"segments with a {HIDDEN} called novel:        {novel[hidden].mean():.0%}")


if __name__ == "__main__":
    main()
