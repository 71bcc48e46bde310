"""Whether a regular expression can take more steps than its text has characters, times a constant.

`explodes` reads the tree that Python itself makes of a pattern. Each character of the pattern is a
place of an automaton, with the places that may follow. Three things are looked for:

- two ways round a loop that read the same text: ``(a+ ?)+``. The steps double with each turn;
- two loops, one after the other, that read the same text: ``\\s*\\n\\s*x``. The steps are a square;
- a loop that a search enters at each character of the same run: ``\\s*\\n``. A square again.

A loop at the end of a pattern, which cannot fail there, is harmless. So is what stands behind a
loop that gives nothing back (``++``), or a search that cannot begin inside a run (``(?<!\\s)``).
Conditions on one character beside a place are read exactly. Longer ones may be overlooked, which
errs on the side of a complaint.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from re import _compiler, _constants, _parser  # type: ignore[attr-defined]  # isort: skip

SQUARE = "a square"
"""How a fault begins that takes as many steps as the square of a text; others double."""

_MANY = 10  # a bounded repeat with more is a loop, where the steps could double with each turn
_COPIES = 60  # places that a bounded repeat is written out to
_STATES = 400_000  # that are looked at for two loops
_ADDED = "\x85\xa0\u2003\u2028éÉßſβσς²٣İıK中がー\u0301–—−‑’“×°µμ"
_EDGE = 1  # the bit of the beginning, or end, of a text

_Where = tuple[int, int]  # what may stand before, and behind


class _Way(NamedTuple):
    """How a place is entered or left: what may stand before and behind, and if that is all."""

    before: int
    behind: int
    is_sure: bool


class _Piece(NamedTuple):
    """A part of a pattern: how it begins, ends and matches nothing, and in how many ways each."""

    firsts: Mapping[tuple[int, _Way], int]
    lasts: Mapping[tuple[int, _Way], int]
    empty: Mapping[_Way, int]


def explodes(pattern: str, flags: int = 0, *, use: str = "search") -> str | None:
    """Return what is wrong with a pattern, or None where its steps are bounded by its text.

    `use` is ``"search"``, ``"match"`` where it is only tried at the start of a text, or
    ``"fullmatch"``, where a loop at its end may fail.
    """
    automaton = _Automaton(pattern, flags, use, bounded=False)
    if fault := automaton.doubling():
        return fault
    if automaton.has_bounds:
        automaton = _Automaton(pattern, flags, use, bounded=True)
    return automaton.square()


class _Automaton:
    """The places of a pattern, what each reads, and which follow which."""

    def __init__(self, pattern: str, flags: int, use: str, *, bounded: bool) -> None:
        tree = _parser.parse(pattern, flags)
        literals = {chr(value) for value in _literals(tree)}
        letters = "".join(sorted({*map(chr, range(128)), *_ADDED, *literals}))
        self._letters = letters
        self._all = (1 << len(letters) + 1) - 1
        self._bounded = bounded
        self.has_bounds = False
        self._state = tree.state
        self.sets: list[int] = []
        self.texts: list[str] = []
        self.edges: dict[tuple[int, int], dict[_Way, int]] = defaultdict(lambda: defaultdict(int))
        self.atomic: list[frozenset[int]] = []
        self.ahead: set[int] = set()
        self._groups: dict[int, tuple[Any, int]] = {}
        free = _Way(self._all, self._all, True)
        self._free = free
        whole = self._sequence(tree, tree.state.flags)
        self.firsts = whole.firsts
        self.lasts = whole.lasts
        if use == "fullmatch":
            end = {_Way(self._all, _EDGE, True): 1}
            self.lasts = _joined_lasts(whole.lasts, end)
        self._searches = use == "search"
        self.next: dict[int, dict[int, list[_Way]]] = defaultdict(dict)
        for (place, follower), ways in self.edges.items():
            allowed = [
                way
                for way in ways
                if way.before & self.sets[place] and way.behind & self.sets[follower]
            ]
            if allowed:
                self.next[place][follower] = allowed
        self.loops = [loop for loop in _components(self.next) if self._is_loop(loop)]

    def _is_loop(self, places: frozenset[int]) -> bool:
        place = next(iter(places))
        return len(places) > 1 or place in self.next.get(place, {})

    # --- from the tree to places ------------------------------------------------------------------

    def _sequence(self, nodes: Iterable[Any], flags: int) -> _Piece:
        whole = _Piece({}, {}, {self._free: 1})
        for operator, argument in nodes:
            whole = self._then(whole, self._piece(operator, argument, flags))
        return whole

    def _then(self, left: _Piece, right: _Piece) -> _Piece:
        self._link(left.lasts, right.firsts)
        firsts, lasts = dict(left.firsts), dict(right.lasts)
        for (place, way), number in _joined_firsts(left.empty, right.firsts).items():
            firsts[place, way] = min(2, firsts.get((place, way), 0) + number)
        for (place, way), number in _joined_lasts(left.lasts, right.empty).items():
            lasts[place, way] = min(2, lasts.get((place, way), 0) + number)
        empty: dict[_Way, int] = {}
        for (one, times), (other, again) in product(left.empty.items(), right.empty.items()):
            if both := _both(one, other):
                empty[both] = min(2, empty.get(both, 0) + times * again)
        return _Piece(firsts, lasts, empty)

    def _link(
        self, lasts: Mapping[tuple[int, _Way], int], firsts: Mapping[tuple[int, _Way], int]
    ) -> None:
        for ((place, way), times), ((follower, entry), again) in product(
            lasts.items(), firsts.items()
        ):
            if both := _both(way, entry):
                self.edges[place, follower][both] += times * again

    def _piece(self, operator: Any, argument: Any, flags: int) -> _Piece:
        name = str(operator)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "RANGE", "CATEGORY"):
            return self._place(self._read(operator, argument, flags), repr((name, argument)))
        if name == "SUBPATTERN":
            group, added, removed, inner = argument
            flags = (flags | added) & ~removed
            if group is not None:
                self._groups[group] = inner, flags
            return self._sequence(inner, flags)
        if name == "BRANCH":
            return self._either([self._sequence(branch, flags) for branch in argument[1]])
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeat(*argument, flags, gives_back=name != "POSSESSIVE_REPEAT")
        if name == "ATOMIC_GROUP":
            first = len(self.sets)
            piece = self._sequence(argument, flags)
            self.atomic.append(frozenset(range(first, len(self.sets))))
            return piece
        if name == "AT":
            return _Piece({}, {}, self._at(str(argument), flags))
        if name in ("ASSERT", "ASSERT_NOT"):
            return self._looks(*argument, flags, is_not=name == "ASSERT_NOT")
        if name == "GROUPREF":
            return self._sequence(*self._groups[argument])
        if name == "GROUPREF_EXISTS":
            _, there, absent = argument
            pieces = [self._sequence(branch or [], flags) for branch in (there, absent)]
            return self._either(pieces)
        if name == "FAILURE":
            return _Piece({}, {}, {})
        raise NotImplementedError(f"{name} is not read yet")

    def _place(self, read: int, text: str) -> _Piece:
        self.sets.append(read)
        self.texts.append(text)
        way = {(len(self.sets) - 1, self._free): 1}
        return _Piece(way, way, {})

    def _either(self, pieces: list[_Piece]) -> _Piece:
        firsts: dict[Any, int] = {}
        lasts: dict[Any, int] = {}
        empty: dict[Any, int] = {}
        for piece in pieces:
            for whole, part in zip((firsts, lasts, empty), piece, strict=True):
                for key, number in part.items():
                    whole[key] = min(2, whole.get(key, 0) + number)
        return _Piece(firsts, lasts, empty)

    def _repeat(
        self, least: int, most: Any, inner: Any, flags: int, *, gives_back: bool = True
    ) -> _Piece:
        is_open = most is _constants.MAXREPEAT
        if not is_open and most >= _MANY:
            self.has_bounds = True
            is_open, most = not self._bounded, 3
            least = min(least, 2)
        first = len(self.sets)
        piece = self._sequence(inner, flags)
        size = len(self.sets) - first
        if is_open:
            piece = self._loop(piece, least)
        else:
            if most * size > _COPIES:
                least, most = min(least, 1), min(most, 2)
            copies = [piece]
            while len(copies) < most:
                copies.append(self._sequence(inner, flags))
            piece = self._copies(copies, least) if most else _Piece({}, {}, {self._free: 1})
        if gives_back:
            return piece
        self.atomic.append(frozenset(range(first, len(self.sets))))
        single = self._single(inner, flags)
        if single is None or not is_open:
            return piece
        # It goes on until something else comes.
        after = {_Way(self._all, self._all & ~single, True): 1}
        empty = after if piece.empty else {}
        return _Piece(piece.firsts, _joined_lasts(piece.lasts, after), empty)

    def _loop(self, piece: _Piece, least: int) -> _Piece:
        self._link(piece.lasts, piece.firsts)
        empty = {self._free: 1} if least == 0 else dict.fromkeys(piece.empty, 1)
        return _Piece(piece.firsts, piece.lasts, empty)

    def _copies(self, copies: list[_Piece], least: int) -> _Piece:
        whole = _Piece({}, {}, {self._free: 1})
        for number, piece in reversed([*enumerate(copies, start=1)]):
            whole = self._then(piece, whole)
            if number > least:
                empty = {**dict.fromkeys(whole.empty, 1), self._free: 1}
                whole = whole._replace(empty=empty)
        return whole

    def _at(self, name: str, flags: int) -> dict[_Way, int]:
        line = self._read(_constants.LITERAL, 10, 0)
        word = self._read(_constants.IN, [(_constants.CATEGORY, _constants.CATEGORY_WORD)], flags)
        other = self._all & ~word
        if name in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            many = flags & re.MULTILINE and name == "AT_BEGINNING"
            return {_Way(_EDGE | line if many else _EDGE, self._all, True): 1}
        if name in ("AT_END", "AT_END_STRING"):
            return {_Way(self._all, _EDGE | line if name == "AT_END" else _EDGE, True): 1}
        if name == "AT_BOUNDARY":
            return {_Way(word, other, True): 1, _Way(other, word, True): 1}
        return {_Way(word, word, True): 1, _Way(other, other, True): 1}

    def _looks(self, direction: int, inner: Any, flags: int, *, is_not: bool) -> _Piece:
        single = self._single(inner, flags)
        first = len(self.sets)
        piece = self._sequence(inner, flags)
        here = range(first, len(self.sets))
        if is_not:
            beside = self._all if single is None else self._all & ~single
        else:
            ends = piece.firsts if direction > 0 else piece.lasts
            beside = self._all
            if not piece.empty:
                beside = 0
                for place, _ in ends:
                    beside |= self.sets[place]
        sure = single is not None
        way = _Way(*((self._all, beside) if direction > 0 else (beside, self._all)), sure)
        has_loop = direction > 0 and any(
            follower <= place and follower >= first
            for place in here
            for follower in here
            if (place, follower) in self.edges
        )
        self.ahead.update(here)
        self.atomic.append(frozenset(here))
        return _Piece(piece.firsts if has_loop else {}, {}, {way: 1} if beside else {})

    def _single(self, inner: Any, flags: int) -> int | None:
        """Return what a piece of one character reads; None for any other piece."""
        nodes = list(inner)
        if len(nodes) != 1:
            return None
        operator, argument = nodes[0]
        name = str(operator)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._read(operator, argument, flags)
        if name == "SUBPATTERN":
            return self._single(argument[3], (flags | argument[1]) & ~argument[2])
        if name == "BRANCH":
            reads = [self._single(branch, flags) for branch in argument[1]]
            return None if None in reads else _union(reads)
        return None

    def _read(self, operator: Any, argument: Any, flags: int) -> int:
        key = (
            repr((operator, argument)),
            flags & (re.IGNORECASE | re.DOTALL | re.ASCII | re.UNICODE),
        )
        return _reads(*key, self._letters, _Node(operator, argument, self._state))

    # --- faults -----------------------------------------------------------------------------------

    def doubling(self) -> str | None:
        """Return a loop that has two ways to read a text."""
        for loop in self.loops:
            for place in loop:
                for follower, ways in self.next[place].items():
                    if follower in loop and self._is_twofold(place, follower, ways):
                        return f"doubling: two ways round a loop, at {self.texts[place]}"
            pairs = self._pairs(loop, loop, leave_together=True)
            for component in _components(pairs):
                if len(component) > 1 and any(one == other for one, other in component):
                    for one, other in component:
                        if one != other:
                            places = f"{self.texts[one]} and {self.texts[other]}"
                            return f"doubling: a loop that reads a text in two ways, at {places}"
        return None

    def _is_twofold(self, place: int, follower: int, ways: list[_Way]) -> bool:
        numbers = self.edges[place, follower]
        if any(numbers[way] > 1 for way in ways):
            return True
        reads, behind = self.sets[place], self.sets[follower]
        return any(
            one.before & other.before & reads and one.behind & other.behind & behind
            for number, one in enumerate(ways)
            for other in ways[:number]
        )

    def _pairs(
        self, left: frozenset[int], right: frozenset[int], *, leave_together: bool = False
    ) -> dict[Any, dict[Any, Any]]:
        """Return the moves of two places, in two loops, that read the same text.

        Two ways into what gives nothing back leave it at the same place.
        """
        moves: dict[Any, dict[Any, Any]] = {}
        for one, other in product(left, right):
            if self.sets[one] & self.sets[other]:
                inside = [group for group in self.atomic if one in group and other in group]
                followers = self._together((one, other), (left, right))
                moves[one, other] = {
                    (first, second): ()
                    for first, second in followers
                    if not leave_together
                    or all((first in group) == (second in group) for group in inside)
                }
        return moves

    def _together(
        self, places: tuple[int, ...], within: tuple[frozenset[int] | None, ...]
    ) -> Iterator[tuple[int, ...]]:
        """Yield where several places can go with one and the same character."""
        here = self._all
        for place in places:
            here &= self.sets[place] if place >= 0 else self._all
        choices = []
        for place, allowed in zip(places, within, strict=True):
            followers = self._begin if place < 0 else self.next.get(place, {})
            choices.append(
                [
                    (follower, way)
                    for follower, ways in followers.items()
                    if allowed is None or follower in allowed
                    for way in ways
                    if way.before & here
                ]
            )
        yield from {
            tuple(follower for follower, _ in moves)
            for moves in product(*choices)
            if self._is_read(here, moves)
        }

    def _is_read(self, here: int, moves: tuple[tuple[int, _Way], ...]) -> bool:
        reads = self._all
        for follower, way in moves:
            here &= way.before
            reads &= way.behind & self.sets[follower]
        return bool(here and reads)

    @property
    def _begin(self) -> dict[int, list[_Way]]:
        """What follows the place before the pattern, which is -1."""
        ways: dict[int, list[_Way]] = defaultdict(list)
        for place, way in self.firsts:
            ways[place].append(way)
        return ways

    def square(self) -> str | None:
        """Return a loop that is entered at each of many characters of the same run."""
        for loop in self.loops:
            if not self._can_fail(loop):
                continue
            if self._searches and (place := self._entered(loop)) is not None:
                return (
                    f"{SQUARE}: a search that enters a run again and again, at {self.texts[place]}"
                )
            for earlier in self.loops:
                if earlier != loop and (places := self._overlap(earlier, loop)):
                    return f"{SQUARE}: two loops that read the same text, at " + " and ".join(
                        self.texts[place] for place in places
                    )
        return None

    def _can_fail(self, loop: frozenset[int]) -> bool:
        """Tell whether the pattern may fail once a loop is entered.

        It may not where each turn passes a place at which the pattern may end before another turn.
        """
        if loop & self.ahead:
            return True
        ways = defaultdict(list)
        for place, way in self.lasts:
            ways[place].append(way)
        goes_on, can_end = True, set()
        for place in loop:
            last = _union(self._sure_behind(place, way) for way in ways[place])
            onward = _union(
                self._sure_behind(place, way) & self.sets[follower]
                for follower, entries in self.next[place].items()
                if follower in loop
                for way in entries
            )
            goes_on = goes_on and last | onward == self._all
            turn = _union(
                way.behind & self.sets[follower]
                for follower, entries in self.next[place].items()
                if follower in loop
                for way in entries
            )
            if not turn & ~last:  # one turn less, and what comes then is no hindrance
                can_end.add(place)
        rest = {
            place: {follower: () for follower in self.next[place] if follower in loop - can_end}
            for place in loop - can_end
        }
        turns = any(len(part) > 1 or any(p in rest[p] for p in part) for part in _components(rest))
        return turns and not goes_on

    def _sure_behind(self, place: int, way: _Way) -> int:
        """Return what may follow a place on a way, 0 where there are other conditions."""
        return way.behind if way.is_sure and not self.sets[place] & ~way.before else 0

    def _entered(self, loop: frozenset[int]) -> int | None:
        """Return a place of a loop that a search reaches by what the loop has just read."""
        begun = [(place, -1) for place in loop]
        for one, other in self._reachable(begun, (loop, None)):
            if one == other:
                return one
        return None

    def _overlap(self, earlier: frozenset[int], later: frozenset[int]) -> tuple[int, int] | None:
        """Return places of two loops between which a run can be parted anywhere."""
        if any(earlier <= group and not later <= group for group in self.atomic):
            return None
        moves = self._pairs(earlier, later)
        for component in _components(moves):
            one, other = next(iter(component))
            if len(component) == 1 and (one, other) not in moves[one, other]:
                continue
            begun = [(one, one, other)]
            if (one, other, other) in self._reachable(begun, (earlier, None, later)):
                return one, other
        return None

    def _reachable(
        self, begun: list[tuple[int, ...]], within: tuple[frozenset[int] | None, ...]
    ) -> set[tuple[int, ...]]:
        reached: set[tuple[int, ...]] = set()
        waiting = begun
        while waiting:
            for places in self._together(waiting.pop(), within):
                if places not in reached:
                    reached.add(places)
                    waiting.append(places)
            if len(reached) > _STATES:
                raise OverflowError("the pattern is too large to be looked at")
        return reached


class _Node(NamedTuple):
    """A character, set or category of a pattern, which is the same as any other for a cache."""

    operator: Any
    argument: Any
    state: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Node)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=20_000)
def _reads(_text: str, flags: int, letters: str, node: _Node) -> int:
    """Return which of some letters a node reads, a bit for each."""
    tree = _parser.SubPattern(node.state, [(node.operator, node.argument)])
    match = _compiler.compile(tree, flags).match
    return sum(2 << number for number, letter in enumerate(letters) if match(letter))


def _literals(tree: Any) -> Iterator[int]:
    """Yield the characters that are written in a tree, and the ends of its ranges."""
    if isinstance(tree, tuple) and len(tree) == 2:
        name, argument = str(tree[0]), tree[1]
        if name in ("LITERAL", "NOT_LITERAL"):
            yield argument
        elif name == "RANGE":
            yield from argument
    if isinstance(tree, list | tuple | _parser.SubPattern):
        for node in tree:
            yield from _literals(node)


def _union(reads: Iterable[int | None]) -> int:
    whole = 0
    for read in reads:
        whole |= read or 0
    return whole


def _both(one: _Way, other: _Way) -> _Way | None:
    before, behind = one.before & other.before, one.behind & other.behind
    if not before or not behind:
        return None
    return _Way(before, behind, one.is_sure and other.is_sure)


def _joined_firsts(
    empty: Mapping[_Way, int], firsts: Mapping[tuple[int, _Way], int]
) -> dict[tuple[int, _Way], int]:
    joined: dict[tuple[int, _Way], int] = {}
    for (way, times), ((place, entry), again) in product(empty.items(), firsts.items()):
        if both := _both(way, entry):
            joined[place, both] = min(2, joined.get((place, both), 0) + times * again)
    return joined


def _joined_lasts(
    lasts: Mapping[tuple[int, _Way], int], empty: Mapping[_Way, int]
) -> dict[tuple[int, _Way], int]:
    return _joined_firsts(empty, lasts)


def _components(graph: Mapping[Any, Mapping[Any, Any]]) -> list[frozenset[Any]]:
    """Return the strongly connected components of a graph."""
    numbers: dict[Any, int] = {}
    lowest: dict[Any, int] = {}
    path: list[Any] = []
    on_path: set[Any] = set()
    components = []
    for root in list(graph):
        if root in numbers:
            continue
        work: list[tuple[Any, Iterator[Any]]] = []

        def enter(node: Any, work: list[tuple[Any, Iterator[Any]]] = work) -> None:
            numbers[node] = lowest[node] = len(numbers)
            path.append(node)
            on_path.add(node)
            work.append((node, iter(graph.get(node, ()))))

        enter(root)
        while work:
            node, followers = work[-1]
            for follower in followers:
                if follower not in numbers:
                    enter(follower)
                    break
                if follower in on_path:
                    lowest[node] = min(lowest[node], numbers[follower])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == numbers[node]:
                    component = set()
                    while node not in component:
                        last = path.pop()
                        on_path.discard(last)
                        component.add(last)
                    components.append(frozenset(component))
    return components
