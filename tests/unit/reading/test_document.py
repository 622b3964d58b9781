"""A document computes what it is asked for once, and holds up no other document meanwhile."""

from threading import Event, Thread

from tidemill.reading import Document
from tidemill.reading.once import computed_once


class _SlowPage:
    """A page whose tree takes until somebody lets it go on."""

    def __init__(self) -> None:
        self.begun, self.may_end = Event(), Event()
        self.built = 0

    @computed_once
    def tree(self) -> int:
        """A tree that waits."""
        self.begun.set()
        assert self.may_end.wait(20)
        self.built += 1
        return self.built


def test_one_pages_slow_tree_holds_up_no_other() -> None:
    slow, quick = _SlowPage(), _SlowPage()
    quick.may_end.set()
    building = Thread(target=lambda: slow.tree)
    building.start()
    assert slow.begun.wait(20)
    reading = Thread(target=lambda: quick.tree, daemon=True)
    reading.start()
    reading.join(20)
    was_held_up = reading.is_alive()
    slow.may_end.set()
    building.join(20)
    assert not was_held_up
    assert (slow.built, quick.built) == (1, 1)


def test_a_value_is_computed_once() -> None:
    page = _SlowPage()
    page.may_end.set()
    assert [page.tree, page.tree] == [1, 1]
    assert page.built == 1
    document = Document("<p>x</p>")
    assert document.tree is document.tree


def test_the_class_itself_answers_with_the_attribute() -> None:
    assert _SlowPage.tree.__doc__ == "A tree that waits."
