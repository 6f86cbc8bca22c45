"""The files that raravis can fetch: where they stand, and the checksums that they must have."""

from dataclasses import dataclass

__all__ = ["HJA_FILES", "MNIST_FILES", "RemoteFile"]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One published file.

    Parameters
    ----------
    path : str
        Where it lies under a data folder, with forward slashes.
    sha256 : tuple of str
        The checksums that are accepted: the published file's, and that of any repacking in use
        whose unpacked content is the same.
    urls : tuple of str
        Mirrors, tried in this order.
    """

    path: str
    sha256: tuple[str, ...]
    urls: tuple[str, ...]


_MNIST_MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
# The published archive first, then the same bytes compressed anew at the highest level.
_MNIST_SHA256: dict[str, tuple[str, ...]] = {
    "train-images-idx3-ubyte.gz": (
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971",
    ),
    "train-labels-idx1-ubyte.gz": (
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203",
    ),
    "t10k-images-idx3-ubyte.gz": (
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be",
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        "b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b",
    ),
}

_HJA_MIRRORS = (
    "http://web.engr.oregonstate.edu/~briggsf/kdd2012datasets/hja_birdsong/",
    "https://raw.githubusercontent.com/ngonthier/Icono_Art_Analysis/HEAD/"
    "Classif_Paintings/MILbenchmark/Dataset/Birds/",
)
_HJA_SHA256: dict[str, tuple[str, ...]] = {
    "hja_birdsong_bag_labels.txt": (
        "7094a78e759ec5d5565da5d51bab6a495fd528bc123b99e787eefeb276c31ac2",
    ),
    "hja_birdsong_class_names.txt": (
        "39d70813536fcb11cef4f4e6cfc85e51bcc6595c53d7b5951c25cf1b20d77947",
    ),
    "hja_birdsong_features.txt": (
        "6cd7374a9bd76468b099a3a5e3891e8461ad84a4dfea2c744c0089b73c16d193",
    ),
    "hja_birdsong_instance_labels.txt": (
        "89203119824f4fd0480b8bc705ef1941c7088fb8bceac74bd9b3e39c88cbe0b6",
    ),
}


def _files(
    folder: str, checksums: dict[str, tuple[str, ...]], mirrors: tuple[str, ...]
) -> dict[str, RemoteFile]:
    return {
        name: RemoteFile(f"{folder}/{name}", sha256, tuple(base + name for base in mirrors))
        for name, sha256 in checksums.items()
    }


MNIST_FILES = _files("mnist", _MNIST_SHA256, _MNIST_MIRRORS)
HJA_FILES = _files("hja_birdsong", _HJA_SHA256, _HJA_MIRRORS)
