"""The races of a little program by the definition.

Its operations become events, one for each thread that takes part; happens-before becomes a closure
over all of them, and every pair of accesses is looked at.
"""

from dataclasses import dataclass, field
from itertools import combinations

from tests.simulator.race_programs import PARTIES


@dataclass
class Event:
    operation: int
    party: tuple
    before: set = field(default_factory=set)  # edges into it, as indices of events


class Definition:
    """The pairs of accesses that race, and those that are only noted; strict: looks race too.

    together  whether the blocks run in one wave: each operation for both before the next one
    """

    def __init__(self, program, strict=False, together=True):
        self.operations = program.operations
        self.strict = strict
        self.events = []
        order = [(n, p) for n, o in enumerate(self.operations) for p in PARTIES if p in o.who]
        if not together:
            order.sort(key=lambda item: (item[1][0], item[0]))
        self.at = {}
        last = {}
        for number, party in order:
            index = len(self.events)
            self.events.append(Event(number, party))
            self.at[number, party] = index
            if party in last:
                self.events[index].before.add(last[party])
            last[party] = index
        promised = self._closed(self._meetings(votes=False))
        self.nearly = self._closed(self._meetings(votes=True))
        self.hb = self._closed(self._meetings(votes=False) | self._handed_on(promised))
        self.races, self.notes = set(), set()
        self._compare()

    def _what(self, index):
        return self.operations[self.events[index].operation]

    def _meetings(self, votes):
        """Edges (from, to): whoever met comes after what any of them did before.

        An edge ends at the participant's next event, or else the meeting would order itself.
        """
        edges = set()
        for number, operation in enumerate(self.operations):
            here = {p: i for (n, p), i in self.at.items() if n == number}
            for a, b in [(a, b) for a in here for b in here if a != b and a[0] == b[0]]:
                same_warp = a[1] // 32 == b[1] // 32
                meets = {
                    "barrier": True,
                    "named": same_warp,
                    "arrive": operation.who[b] == 1,  # b waits; a waits too, or has arrived
                    "warp": same_warp and self._names(operation, a, b),
                    "vote": votes and same_warp and self._names(operation, a, b),
                }.get(operation.what, False)
                if meets:
                    edges.add((here[a], here[b]))
        return edges

    @staticmethod
    def _names(operation, a, b):
        return operation.who[a] >> b[1] % 32 & 1 and operation.who[b] >> a[1] % 32 & 1

    def _closed(self, edges):
        """[events] a mask of the events before each: those it follows, and itself."""
        into = [set(e.before) for e in self.events]
        for a, b in edges:
            into[b].add(a)
        before = [1 << k for k in range(len(self.events))]
        changed = True
        while changed:
            changed = False
            for k, sources in enumerate(into):
                mask = before[k]
                for source in sources:
                    mask |= before[source]
                if mask != before[k]:
                    before[k], changed = mask, True
        return before

    def _handed_on(self, promised):
        """Edges from what releases to what acquires."""
        histories, edges = {}, set()
        fences = [k for k, e in enumerate(self.events) if self._what(k).what == "fence"]
        for k, event in enumerate(self.events):
            operation = self._what(k)
            if operation.what not in ("ld", "st", "add", "exch"):
                continue
            block = event.party[0]
            place = (operation.space, operation.space == "shared" and block, operation.at)
            strong, narrow = bool(operation.order), operation.scope == "cta"
            narrow = narrow and operation.order != "volatile"
            if strong and operation.what != "st":
                for source, wide, origin in histories.get(place, ()):
                    if origin != block and (narrow or not wide):
                        continue
                    if operation.order in ("acquire", "acq_rel"):
                        edges.add((source, k))
                        continue
                    for fence in fences:
                        reaches = self._what(fence).scope == "gpu" or origin == block
                        if reaches and promised[fence] >> k & 1:
                            edges.add((source, fence))
            if operation.what == "ld":
                continue
            if operation.what == "st":
                histories.pop(place, None)
            if not strong:
                continue
            gathered = histories.setdefault(place, [])
            if operation.order in ("release", "acq_rel"):
                gathered.append((k, not narrow, block))
                continue
            for fence in fences:
                if promised[k] >> fence & 1:
                    wide = self._what(fence).scope == "gpu" and not narrow
                    gathered.append((fence, wide, block))
        return edges

    def _compare(self):
        accesses = [k for k in range(len(self.events)) if self._what(k).what in
                    ("ld", "st", "add", "exch")]  # fmt: skip
        for a, b in combinations(accesses, 2):
            kind = self._kind(a, b)
            if kind is None or self.hb[a] >> b & 1 or self.hb[b] >> a & 1:
                continue
            if self.nearly[a] >> b & 1 or self.nearly[b] >> a & 1:
                kind = "note"
            pair = frozenset((self.events[k].operation + 1, self.events[k].party) for k in (a, b))
            (self.races if kind == "race" else self.notes).add(pair)

    def _kind(self, a, b):
        one, two = self._what(a), self._what(b)
        p, q = self.events[a].party, self.events[b].party
        if p == q or one.space != two.space or (one.space == "shared" and p[0] != q[0]):
            return None
        low, high = max(one.at, two.at), min(one.at + one.size, two.at + two.size)
        if low >= high or one.what == two.what == "ld":
            return None
        volatile_tail = (
            one.space == "shared"
            and one.order == two.order == "volatile"
            and p[1] // 32 == q[1] // 32
        )
        wide = all(o.scope == "gpu" or o.order == "volatile" for o in (one, two))
        if one.order and two.order and (p[0] == q[0] or wide) and not volatile_tail:
            return None
        updates = {"add", "exch"}
        plain_read = any(o.what == "ld" and not o.order for o in (one, two))
        if plain_read and {one.what, two.what} & updates:
            return "note" if one.space == "global" and not self.strict else "race"
        if one.what == two.what == "st":
            bytes_ = [
                o.who[party].to_bytes(8, "little")[low - o.at : high - o.at]
                for o, party in ((one, p), (two, q))
            ]
            return "note" if bytes_[0] == bytes_[1] else "race"
        return "race"
