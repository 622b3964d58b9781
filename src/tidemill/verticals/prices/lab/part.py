"""What prices bring to the lab."""

from functools import cache

from tidemill.lab.part import CorpusPages, LabPart, SitesOption
from tidemill.verticals.prices.lab.corpus import corpus_product
from tidemill.verticals.prices.lab.demo import BESIDE
from tidemill.verticals.prices.lab.group import build_shop_sites

LAB = LabPart(
    vertical="prices",
    sites=SitesOption(name="shops", default=0, build=build_shop_sites, help="shops beside the agenda sites"),
    demo=BESIDE,
    # drawn once: a benchmark asks for the same ones again and again
    corpus=CorpusPages("/product/", lambda _: cache(corpus_product)),
)
