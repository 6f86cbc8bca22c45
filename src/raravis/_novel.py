"""The annotation of an instance that belongs to no known class."""

from typing import Self, final

__all__ = ["NOVEL", "Novel"]


@final
class Novel:
    """The one object that stands for "none of the known classes".

    It equals nothing but itself, not even the string ``"novel"``: a user's own class may be
    called that.

    Examples
    --------
    >>> NOVEL
    novel
    >>> NOVEL == "novel"
    False
    >>> Novel() is NOVEL
    True
    """

    __slots__ = ()

    def __new__(cls) -> Self:
        """Return the one instance, also when copied or unpickled."""
        return _ONLY.setdefault(cls, object.__new__(cls))

    def __repr__(self) -> str:
        return "novel"

    def __reduce__(self) -> str:
        # A string makes copy and pickle look the name up in this module: the same object again.
        return "NOVEL"

    def __hash__(self) -> int:
        # Independent of the address, so that the order of sets does not change between runs.
        return 0x6E6F76656C

    def __eq__(self, other: object) -> bool:
        return self is other


_ONLY: dict[type, Novel] = {}
NOVEL = Novel()
