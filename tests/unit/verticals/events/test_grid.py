from hypothesis import given
from hypothesis import strategies as st

from tidemill.core.discovery.places import kilometres
from tidemill.core.source import Coordinates
from tidemill.verticals.events.grid import square_of, squares_within

points = st.builds(Coordinates, st.floats(-85, 85), st.floats(-179, 179))


@given(points, points, st.floats(0.5, 60))
def test_what_is_near_lies_in_a_square_that_is_searched(one, other, radius):
    if kilometres(one, other) <= radius * 0.999:
        assert square_of(other) in squares_within(one, radius)


@given(points, st.floats(-0.3, 0.3), st.floats(-0.3, 0.3), st.floats(1, 60))
def test_so_do_neighbours(one, north, east, radius):
    other = Coordinates(one.latitude + north, one.longitude + east)
    if kilometres(one, other) <= radius * 0.999:
        assert square_of(other) in squares_within(one, radius)


def test_a_town_needs_few_squares():
    assert len(squares_within(Coordinates(52.0, 5.9), 25)) < 80
