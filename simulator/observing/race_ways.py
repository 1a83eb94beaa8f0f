"""The ways to access memory, and which two of them must not meet without an order."""

from dataclasses import dataclass
from enum import Enum, auto

from simulator.observing.events import NARROW_SCOPES, STRONG_WORDS, Access, Kind, Space


class Way(Enum):
    """How an access reaches memory, as far as races care."""

    __hash__ = object.__hash__

    READ = auto()
    WRITE = auto()
    STRONG_READ = auto()  # relaxed or acquire; in global memory volatile too
    STRONG_WRITE = auto()
    UPDATE = auto()  # an atomic
    BLOCK_READ = auto()  # strong, in global memory, for its own block only
    BLOCK_WRITE = auto()
    BLOCK_UPDATE = auto()
    VOLATILE_READ = auto()  # in shared memory
    VOLATILE_WRITE = auto()


class Between(Enum):
    """Which two threads must not meet so."""

    ALL = auto()
    BLOCKS = auto()  # threads of two blocks
    WARP = auto()  # lanes of one warp


@dataclass(frozen=True, slots=True)
class Conflict:
    """An earlier access that a later one must come after, and not only by chance.

    look  a plain read beside an atomic: out of date at worst, and often meant
    """

    earlier: Way
    between: Between
    look: bool = False


_PLAIN = (Way.READ, Way.WRITE)
_BLOCK = (Way.BLOCK_READ, Way.BLOCK_WRITE, Way.BLOCK_UPDATE)
_STRONG = (Way.STRONG_READ, Way.STRONG_WRITE, Way.UPDATE)
_VOLATILE = (Way.VOLATILE_READ, Way.VOLATILE_WRITE)
READS = frozenset((Way.READ, Way.STRONG_READ, Way.BLOCK_READ, Way.VOLATILE_READ))
UPDATES = frozenset((Way.UPDATE, Way.BLOCK_UPDATE))
STORES = frozenset((Way.WRITE, Way.STRONG_WRITE, Way.BLOCK_WRITE, Way.VOLATILE_WRITE))


def way_of(access: Access) -> Way:
    """How an access of global or shared memory reaches it."""
    return _of(access.kind, access.space, access.strong, access.narrow, access.volatile)


def way(kind: Kind, space: Space, parts: tuple[str, ...]) -> Way:
    """The same, from the parts of an opcode."""
    said = set(parts)
    strong = kind is Kind.ATOMIC or bool(STRONG_WORDS & said)
    return _of(kind, space, strong, bool(NARROW_SCOPES & said), "volatile" in said)


def _of(kind: Kind, space: Space, strong: bool, narrow: bool, volatile: bool) -> Way:
    if not strong:
        return Way.READ if kind is Kind.LOAD else Way.WRITE
    ways = _STRONG
    if narrow and space is Space.GLOBAL:
        ways = _BLOCK
    elif volatile and space is Space.SHARED:
        ways = (*_VOLATILE, Way.UPDATE)
    return ways[(Kind.LOAD, Kind.STORE, Kind.ATOMIC).index(kind)]


def _conflict(later: Way, earlier: Way) -> Conflict | None:
    """Whether two accesses of one place, in different threads, need an order.

    At least one writes, and they are not both strong at scopes that cover each other. volatile in
    shared memory is strong between warps; between the lanes of one warp it is how code once took
    lock step for an order, so there it counts as plain.
    """
    if later in READS and earlier in READS:
        return None
    if later in _PLAIN or earlier in _PLAIN:
        plain_read = Way.READ in (later, earlier)
        return Conflict(earlier, Between.ALL, plain_read and bool(UPDATES & {later, earlier}))
    if later in _VOLATILE and earlier in _VOLATILE:
        return Conflict(earlier, Between.WARP)
    if later in _BLOCK or earlier in _BLOCK:
        return Conflict(earlier, Between.BLOCKS)
    return None


CONFLICTS: dict[Way, tuple[Conflict, ...]] = {
    later: tuple(c for earlier in Way if (c := _conflict(later, earlier)) is not None)
    for later in Way
}
