"""What matches bring to the lab."""

from tidemill.lab.part import LabPart
from tidemill.verticals.matches.lab.demo import MATCHES

LAB = LabPart(vertical="matches", demo=MATCHES)
