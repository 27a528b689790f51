"""The documentation site: it builds without a network and without a warning, and every link leads somewhere."""

import os
import re
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from documents import ROOT

import tightrope as tr

pytestmark = pytest.mark.no_cover  # the gate counts the rooms behind the doors

FIGURES = ROOT / "docs" / "figures"


class Page(HTMLParser):
    """The links, anchors and sources of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.fetched = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("img", "script", "link", "iframe"):
            self.fetched += [given[key] for key in ("src", "href") if given.get(key)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target = tmp_path_factory.mktemp("site")
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(target / ".trees"), "-b", "html",
         str(ROOT / "docs"), str(target)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, timeout=300, check=False,
    )
    assert built.returncode == 0, built.stderr
    return {p.relative_to(target): Page(p.read_text(encoding="utf-8")) for p in target.rglob("*.html")}, target


def test_every_page_is_there(site):
    pages, _ = site
    for source in (ROOT / "docs").rglob("*.md"):
        if "_build" not in source.parts:
            assert source.relative_to(ROOT / "docs").with_suffix(".html") in pages


def test_links_lead_to_pages_and_anchors(site):
    pages, target = site
    for path, page in pages.items():
        if path.name in ("genindex.html", "search.html", "py-modindex.html"):
            continue
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = unquote(link).partition("#")
            there = (target / path.parent / file).resolve() if file else target / path
            assert there.exists(), f"{path} links to {link}"
            if anchor and there.suffix == ".html":
                assert anchor in pages[there.relative_to(target.resolve())].anchors, f"{path} links to {link}"


def test_nothing_is_fetched_from_elsewhere(site):
    pages, _ = site
    for path, page in pages.items():
        assert not [source for source in page.fetched if re.match(r"(https?:)?//", source)], path


def test_every_public_name_is_in_the_reference(site):
    (pages, target) = site
    page = pages[(target / "reference.html").relative_to(target)]
    for name in tr.__all__:
        assert f"tightrope.{name}" in page.anchors, name


def test_figures_are_those_that_are_made():
    made = runpy.run_path(str(FIGURES / "make.py"))["FIGURES"]
    others = {"benchmarks.svg"}  # drawn from measurements, by the benchmarks
    assert {f"{name}.svg" for name in made} == {path.name for path in FIGURES.glob("*.svg")} - others
    for name, draw in made.items():
        drawn = (FIGURES / f"{name}.svg").read_text(encoding="utf-8")
        ElementTree.fromstring(drawn)
        if name in ("tradeoff", "renyi", "profile"):
            figure = draw()
            for words in (figure.title, *{row["curve"] for row in figure.spec["data"]["values"]}):
                assert words in drawn, "run python docs/figures/make.py"
