"""Making cards of a portion of changed events: who is compared with whom, which are one, and what their cards say.

Nothing here asks the database. It is done in a thread, beside the event loop and outside of any transaction.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations, islice
from typing import Any

import msgspec

from tidemill.verticals.events.candidates import MOST_CANDIDATES, CandidateSearch, Lookup, minute_of, search_of
from tidemill.verticals.events.card import Member, card_of
from tidemill.verticals.events.linking import KnownEvent, groups, known, likeness
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.store.candidate_rows import Found, Keyed, keyed_before
from tidemill.verticals.events.store.card_writes import CardLink, PublishedCard, card_row

Pair = tuple[int, int]
Weights = Mapping[int, tuple[int, float]]
"""The precedence and reliability of sources."""

NOWHERE = CandidateSearch()

_decode = msgspec.json.Decoder(Event).decode


class EventOnCard(msgspec.Struct, frozen=True, eq=False):
    """An event with all that a round needs to know about it; `card_id` is the card that it is on so far."""

    event: Event
    known: KnownEvent
    updated_at: datetime
    card_id: int | None
    keyed: Keyed
    search: CandidateSearch


Told = Mapping[int, EventOnCard]


def read_rows(rows: Iterable[Any], *, changed: bool) -> dict[int, EventOnCard]:
    """The events in these rows; one that an old version wrote and nobody can read any more has no card."""
    told = {}
    for row in rows:
        try:
            event = _decode(row["record"])
        except msgspec.ValidationError:
            continue
        about = known(row["id"], event)
        search = search_of(about) if changed else NOWHERE
        keyed = Keyed(minute_of(about), search.own) if changed else keyed_before(row)
        told[row["id"]] = EventOnCard(event, about, row["updated_at"], row["card_id"], keyed, search)
    return told


def candidates_of(changed: Told, used: set[int], found: Mapping[Lookup, Sequence[Found]]) -> dict[int, list[int]]:
    """The other sources' events that each changed one is compared with, those that have not changed themselves.

    `used` are the keys under which anything stands; an event none of whose keys is among them has no candidates.
    """
    return {
        key: list(islice(_others(each, changed, each.search.lookups(used), found), MOST_CANDIDATES))
        for key, each in changed.items()
        if not used.isdisjoint(each.search.keys)
    }


def _others(
    each: EventOnCard, changed: Told, lookups: Iterable[Lookup], found: Mapping[Lookup, Sequence[Found]]
) -> Iterator[int]:
    seen = set()
    for lookup in lookups:
        for key, source_id in found.get(lookup, ()):
            if source_id != each.known.source_id and key not in changed and key not in seen:
                seen.add(key)
                yield key


def pairs_among(changed: Told) -> Iterator[Pair]:
    """The changed events of different sources that share a key: they are not found by the database yet."""
    under: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for key, each in changed.items():
        for shared in each.keyed.keys:
            under[shared][each.known.source_id].append(key)
    for key, each in changed.items():
        others = (
            other
            for shared in dict.fromkeys(each.search.keys)
            if shared in under
            for source_id, those in under[shared].items()
            if source_id != each.known.source_id
            for other in those
        )
        for other in islice(others, MOST_CANDIDATES):
            yield (key, other) if key < other else (other, key)


def scores_of(pairs: Iterable[Pair], told: Told) -> dict[Pair, float]:
    """Which of these pairs are one and the same event, by how much."""
    scores: dict[Pair, float] = {}
    for pair in sorted(set(pairs)):
        if like := likeness(told[pair[0]].known, told[pair[1]].known):
            scores[pair] = like.score
    return scores


def first_scores(changed: Told, others: Told, candidates: Mapping[int, Sequence[int]]) -> dict[Pair, float]:
    """How alike the changed events are to each other and to their candidates."""
    met = (_ordered(key, other) for key, those in candidates.items() if key in changed for other in those)
    pairs = [*pairs_among(changed), *(pair for pair in met if pair[0] in others or pair[1] in others)]
    return scores_of(pairs, {**others, **changed})


def touched_cards(scores: Iterable[Pair], others: Told) -> set[int]:
    """The cards that something changed is alike to."""
    cards = (others[key].card_id for pair in scores for key in pair if key in others)
    return {card for card in cards if card is not None}


def later_pairs(scores: Iterable[Pair], told: Told) -> Iterator[Pair]:
    """What else must be compared: all that was on one card, and a changed event with all on a card that it fits."""
    on_card: dict[int, list[int]] = defaultdict(list)
    for key in sorted(told):
        if (card := told[key].card_id) is not None:
            on_card[card].append(key)
    for those in on_card.values():
        yield from combinations(those, 2)
    for one, other in scores:
        for key, met in ((one, other), (other, one)):
            if (card := told[met].card_id) is not None:
                yield from (_ordered(key, member) for member in on_card[card] if member != key)


def published_cards(
    told: Told,
    changed: Told,
    scores: Mapping[Pair, float],
    before: Mapping[int, Sequence[int]],
    weights: Weights,
    now: datetime,
) -> tuple[list[PublishedCard], set[int]]:
    """The cards to write, and those that are no longer; one whose events are as before is left alone."""
    best_first = sorted(scores, key=lambda pair: (-scores[pair], pair))
    grouped = groups([each.known for each in told.values()], best_first)
    fresh = [group for group in grouped if before.get(group[0]) != group or any(key in changed for key in group)]
    best: dict[int, float] = {}
    for pair, score in scores.items():
        for key in pair:
            best[key] = max(score, best.get(key, 0.0))
    cards = [_published(group, told, best, weights, now) for group in fresh]
    return cards, before.keys() - {group[0] for group in grouped}


def cards_before(told: Told, rows: Iterable[Any]) -> dict[int, list[int]]:
    """The cards that are touched, with what is on each so far."""
    before: dict[int, list[int]] = defaultdict(list)
    for key in sorted(told):
        if (card := told[key].card_id) is not None:
            before[card].append(key)
    for row in rows:
        if row["id"] not in told and row["card_id"] is not None:
            before[row["card_id"]].append(row["id"])
    return dict(before)


def _published(
    group: Sequence[int], told: Told, best: Mapping[int, float], weights: Weights, now: datetime
) -> PublishedCard:
    card = card_of([_member(key, told[key], weights) for key in group])
    links = [CardLink(key, told[key].event.source_id, best.get(key, 1.0), told[key].updated_at) for key in group]
    return PublishedCard(group[0], card_row(group[0], card, now), links)


def _member(key: int, told: EventOnCard, weights: Weights) -> Member:
    precedence, reliability = weights.get(told.event.source_id, (0, 0.5))
    return Member(
        event_id=key, event=told.event, precedence=precedence, reliability=reliability, updated_at=told.updated_at
    )


def _ordered(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
