"""What events bring to the lab."""

from tidemill.lab.part import CorpusPages, LabPart, SitesOption
from tidemill.verticals.events.lab.corpus import Corpus
from tidemill.verticals.events.lab.demo import DISCOVER
from tidemill.verticals.events.lab.group import build_agendas
from tidemill.verticals.events.lab.simulation import AGENDAS

LAB = LabPart(
    vertical="events",
    sites=SitesOption(name="sites", default=12, build=build_agendas),
    demo=DISCOVER,
    simulation=AGENDAS,
    corpus=CorpusPages("/bench/", lambda first_day: Corpus(first_day).page),
)
