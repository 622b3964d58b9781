"""A project of Scrapy becomes a sources file that can be imported."""

import sys

import pytest

from tidemill.interop.import_paths import UnusableCode
from tidemill.interop.scrapy_projects import entries_of

SETTINGS = """
SPIDER_MODULES = ["{name}.spiders"]
DOWNLOAD_DELAY = 3
ROBOTSTXT_OBEY = False
ITEM_PIPELINES = {{"{name}.pipelines.Save": 300}}
"""
SPIDERS = """
import scrapy

class Shelves(scrapy.Spider):
    name = "My Shelves"
    start_urls = ["https://shop.example/a?x=1", "https://shop.example/b", "https://other.example/c"]
    custom_settings = {"CLOSESPIDER_PAGECOUNT": 40}

    def parse(self, response):
        yield {"title": response.css("h1::text").get()}

class Asking(scrapy.Spider):
    name = "asking"

    def start_requests(self):
        yield scrapy.FormRequest("https://shop.example/search", formdata={"q": "x"})

    async def start(self):
        for each in self.start_requests():
            yield each

class Broken(scrapy.Spider):
    name = "broken"

    def __init__(self, shelf, **kwargs):
        super().__init__(**kwargs)
"""


@pytest.fixture
def project(tmp_path):
    name = f"project_{abs(hash(str(tmp_path)))}"
    package = tmp_path / name
    package.mkdir()
    (tmp_path / "scrapy.cfg").write_text(f"[settings]\ndefault = {name}.settings\n")
    (package / "__init__.py").write_text("")
    (package / "settings.py").write_text(SETTINGS.format(name=name))
    (package / "spiders.py").write_text(SPIDERS)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path


def test_each_spider_is_an_entry_with_where_it_begins_its_pace_and_its_limit(project):
    shelves, *_ = entries_of(project, "prices")
    entry = dict(shelves.entry)
    assert entry.pop("adapter").endswith(".spiders:Shelves")
    assert entry == {
        "name": "my-shelves",
        "vertical": "prices",
        "base_url": "https://shop.example",
        "max_pages": 40,
        "pace": {"interval_seconds": 3.0},
        "settings": {"domains": ["other.example"]},
        "targets": [
            {"url": "https://shop.example/a?x=1"},
            {"url": "https://shop.example/b"},
            {"url": "https://other.example/c"},
        ],
    }


def test_what_is_left_out_is_said(project):
    shelves, asking, broken = entries_of(project, "prices")
    assert any(words.startswith("ITEM_PIPELINES") for words in shelves.left_out)
    assert any("robots.txt is always obeyed" in words for words in shelves.left_out)
    assert any("a POST request is not sent" in words for words in asking.left_out)
    assert any("where it begins is not known" in words for words in broken.left_out)


def test_a_folder_without_a_project_is_refused(tmp_path):
    with pytest.raises(UnusableCode, match=r"scrapy\.cfg"):
        entries_of(tmp_path, "prices")
