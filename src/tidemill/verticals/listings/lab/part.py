"""What listings bring to the lab."""

from tidemill.lab.part import LabPart
from tidemill.verticals.listings.lab.demo import HOMES
from tidemill.verticals.listings.lab.fortnight import FORTNIGHT

LAB = LabPart(
    vertical="listings",
    demo=HOMES,
    simulation=FORTNIGHT,
    idle_ticks=("markets", "freshness", "market_proof"),
)
