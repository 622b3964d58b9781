import msgspec
import yaml

from tidemill.core.pacing import Pace
from tidemill.verticals.events.lab.group import agenda_sites, agenda_world
from tidemill.verticals.events.lab.makes import SELECTORS


def test_every_site_is_a_source_with_its_pages_as_targets() -> None:
    world = agenda_world(12)
    described = world.sources()
    assert len({source["name"] for source in described}) == 12
    for source, site in zip(described, agenda_sites(world).values(), strict=True):
        assert [target["url"] for target in source["targets"]] == [site.origin + path for path in site.paths]
        assert source["time_zone"] == site.time_zone


def test_sites_without_structured_data_come_with_their_selectors() -> None:
    world = agenda_world(12)
    for source, site in zip(world.sources(), agenda_sites(world).values(), strict=True):
        expected = SELECTORS.get(site.make)
        assert source["settings"].get("selectors") == expected
        assert source["adapter"] == ("events.selectors" if expected else "events.generic")


def test_sources_are_plain_values_that_survive_yaml_and_json() -> None:
    described = agenda_world(12).sources(interval_seconds=0.5)
    assert yaml.safe_load(yaml.safe_dump(described)) == described
    assert msgspec.json.decode(msgspec.json.encode(described)) == described
    assert described[0]["pace"] == {"interval_seconds": 0.5, "burst": Pace().burst, "parallel": Pace().parallel}
