"""Pictures: what they draw lies where the library says, titles say relation and δ, and typos are refused."""

import json
import math
import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from commands import good, refused

import tightrope as tr
from tightrope import plotting
from tightrope.plotting.layers import DASHES, PALETTE

pytestmark = pytest.mark.no_cover  # the gate counts the rooms behind the doors

RUN = "gaussian(sigma=1).poisson(0.01) * 100"


def rows(figure):
    return figure.spec["data"]["values"]


def under(figure):
    return figure.spec["title"]["subtitle"]


def notes(figure):
    return [row for layer in figure.spec["layer"] if "layer" in layer for row in layer["data"]["values"]]


def legend(figure):
    lines = [layer for layer in figure.spec["layer"] if layer.get("mark", {}).get("type") == "line"]
    return next(line["encoding"]["color"] for line in lines if "color" in line["encoding"])


def test_a_profile_encloses_and_marks():
    figure = plotting.profile(RUN, delta="1e-5", points=12)
    for row in rows(figure)[::5]:
        found = tr.delta(tr.parse(RUN), epsilon=row["epsilon"])
        assert row["lower"] <= max(found.upper, 1e-13)
        assert row["upper"] >= min(found.lower, 1)
    (mark,) = notes(figure)
    claim = tr.epsilon(tr.parse(RUN), delta="1e-5")
    assert mark["epsilon"] == claim.upper
    assert float(mark["words"].removeprefix("ε ≤ ")) >= claim.upper
    assert under(figure) == "neighbours: add-remove; marked at δ = 1e-5"
    assert legend(figure)["legend"] is None


def test_a_steep_profile_is_drawn_densely_before_its_end():
    near_end = [r["epsilon"] for r in rows(plotting.profile("laplace(scale=1)", "gaussian(sigma=1)", points=40))
                if r["curve"].startswith("laplace") and 0.99 < r["epsilon"] <= 1]
    assert len(near_end) > 5


def test_a_profile_that_never_falls():
    figure = plotting.profile("approx(epsilon=1, delta=1e-3)", points=8)
    assert max(row["epsilon"] for row in rows(figure)) == 25
    both = plotting.profile("approx(epsilon=1, delta=1e-3)", "gaussian(sigma=1)", delta="1e-6", points=8)
    assert len(notes(both)) == 1  # the ε of the first is infinite at that δ
    nothing = plotting.profile("gaussian(sigma=1) * 0", points=8)
    assert all(row["upper"] == 1e-13 for row in rows(nothing))
    assert not notes(plotting.profile("gaussian(sigma=1)", delta="1e-20", points=8))  # below the picture


def test_equal_marks_are_said_once():
    figure = plotting.profile("laplace(scale=1)", "pure(epsilon=1)", delta="1e-9", points=8)
    assert len(notes(figure)) == 1


def test_a_tradeoff_of_several():
    texts = ["randomized_response(epsilon=1)", "leaky_input(delta=0.1)", "laplace(scale=1)"]
    figure = plotting.tradeoff(*texts, fpr="0.1", points=9)
    assert {row["curve"] for row in rows(figure)} == set(texts)
    for row in rows(figure)[::4]:
        found = tr.tradeoff(tr.parse(row["curve"]), fpr=f"{row['fpr']:.12g}")
        assert row["lower"] <= found.upper + 1e-12
        assert row["upper"] >= found.lower - 1e-12
    assert under(figure) == "neighbours: as stated; grey: perfect privacy; marked at rate 0.1"
    assert legend(figure)["legend"]["orient"] == "bottom"
    for mark, text in zip(notes(figure), texts, strict=True):
        assert float(mark["words"].removeprefix("≥ ")) <= tr.tradeoff(tr.parse(text), fpr="0.1").upper


def test_a_renyi_curve_and_its_best_order():
    figure = plotting.renyi("gaussian(sigma=1)", delta="1e-5", points=20)
    for row in rows(figure)[::6]:
        assert row["value"] == pytest.approx(row["order"] / 2, rel=1e-5)
    (mark,) = notes(figure)
    assert 4 < mark["order"] < 8  # 1 + √(2 ln(1/δ)) = 5.8
    assert under(figure) == "neighbours: as stated; dots: the best order at δ = 1e-5"
    some = plotting.renyi("gaussian(sigma=1)", "leaky_input(delta=0.1)", points=5)
    assert {row["curve"] for row in rows(some)} == {"gaussian(sigma=1)"}
    with pytest.raises(tr.TightropeError, match="nothing to draw"):
        plotting.renyi("leaky_input(delta=0.1)", points=5)


def test_steps_by_every_route():
    figure = plotting.steps("gaussian(sigma=20)", delta="1e-6", most=100, points=3)
    assert {row["steps"] for row in rows(figure)} == {1, 10, 100}
    found = {row.route: row.value for row in tr.compare(tr.Gaussian(20) * 10, delta="1e-6").rows}
    drawn = {row["curve"]: row["value"] for row in rows(figure) if row["steps"] == 10}
    (best,) = [name for name in drawn if "exact" in name.split(" = ")]
    assert "Gaussian DP" in best  # they coincide, and are one curve
    assert drawn[best] == pytest.approx(found["exact"], rel=1e-9)
    assert drawn["basic composition"] == found["basic"]
    assert "δ = 1e-6; neighbours: as stated" in under(figure)
    assert legend(figure)["legend"]["columns"] == 2
    own = plotting.steps("gaussian(sigma=1).poisson(0.01) * 7", points=2)
    assert max(row["steps"] for row in rows(own)) == 7
    with pytest.raises(tr.TightropeError, match="nothing to draw"):
        plotting.steps("leaky_input(delta=0.1)", points=2)


def test_noise_meets_the_target():
    figure = plotting.noise("gaussian(sigma=?)", epsilon=1, most=10, points=2)
    best = {row["steps"]: row["value"] for row in rows(figure) if row["curve"] == "the best of all, certified"}
    for n, sigma in best.items():
        assert tr.epsilon(tr.Gaussian(sigma) * n, delta="1e-5") <= 1
    for row in rows(figure):
        assert row["value"] >= best[row["steps"]]
    assert "ε = 1, δ = 1e-5; neighbours: as stated" in under(figure)
    kept = plotting.noise("gaussian(sigma=10)", most=2, points=2)
    assert rows(kept)[0]["value"] == pytest.approx(10, rel=1e-5)


def test_calibration_meets_each_target():
    figure = plotting.calibration("gaussian(sigma=1) * 3", points=3)
    for row in rows(figure):
        assert tr.epsilon(tr.Gaussian(f"{row['value']:.15g}") * 3, delta="1e-5").lower <= row["epsilon"]
    assert under(figure) == "gaussian(sigma=?) * 3; δ = 1e-5; neighbours: as stated"
    assert figure.title == "sigma against ε"


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        (lambda: plotting.profile(), "at least one mechanism"),
        (lambda: plotting.profile("gausian(sigma=1)"), "Did you mean"),
        (lambda: plotting.profile(3), "mechanism"),
        (lambda: plotting.profile("gaussian(sigma=1)", points=1), "from 2 to 5000"),
        (lambda: plotting.profile("gaussian(sigma=1)", points=True), "from 2 to 5000"),
        (lambda: plotting.profile("gaussian(sigma=1)", delta=2, points=3), "delta"),
        (lambda: plotting.profile("gaussian(sigma=1)", delta="0.1", epsilon=1), "together with a delta"),
        (lambda: plotting.profile("gaussian(sigma=1)", epsilon=-1), "epsilon"),
        (lambda: plotting.tradeoff("gaussian(sigma=1)", fpr=2, points=3), "fpr"),
        (lambda: plotting.renyi("gaussian(sigma=1)", delta="x"), "delta"),
        (lambda: plotting.steps("gaussian(sigma=1)", most=1), "most"),
        (lambda: plotting.noise("gaussian(sigma=?)"), "is needed when the mechanism has a ?"),
        (lambda: plotting.noise("leaky_input(delta=0.1)", epsilon=1), "has no noise parameter"),
        (lambda: plotting.noise("gaussian(sigma=1)", delta=0), "must be finite"),
        (lambda: plotting.noise("gaussian(sigma=?)", epsilon=0), "epsilon"),
        (lambda: plotting.calibration("gaussian(sigma=?) + leaky_input(delta=0.1)", points=2), "reaches any ε"),
    ],
)
def test_bad_questions_are_refused(draw, told):
    with pytest.raises(tr.TightropeError) as wrong:
        draw()
    assert told in str(wrong.value)


@pytest.mark.parametrize("suffix", ["png", "svg", "html", "json", "PNG"])
def test_files(tmp_path, suffix):
    figure = plotting.tradeoff("gaussian(sigma=1)", points=5)
    path = tmp_path / f"picture.{suffix}"
    assert figure.save(path) == path
    content = path.read_bytes()
    match suffix.lower():
        case "png":
            assert content.startswith(b"\x89PNG")
        case "svg":
            ElementTree.fromstring(content.decode())
            assert "Trade-off curve" in content.decode()
        case "html":
            assert not re.search(r"""(src|href)=["']https?:|@import""", content.decode())
        case "json":
            assert json.loads(content) == figure.spec


def test_other_files_are_refused(tmp_path):
    with pytest.raises(tr.BadParameter, match="must end in one of"):
        plotting.tradeoff("gaussian(sigma=1)", points=3).save(tmp_path / "picture.pdf")


def test_without_the_drawing_package(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    figure = plotting.tradeoff("gaussian(sigma=1)", points=3)
    with pytest.raises(tr.Unsupported, match=r"tightrope\[plot\]"):
        figure.to_svg()
    assert "image/svg+xml" not in figure._repr_mimebundle_()
    assert figure.save(tmp_path / "a.json").exists()


def test_notebooks_are_given_the_picture():
    bundle = plotting.tradeoff("gaussian(sigma=1)", points=3)._repr_mimebundle_(include=None, exclude=None)
    assert bundle["application/vnd.vegalite.v5+json"]["title"]["text"] == "Trade-off curve"
    assert bundle["image/svg+xml"].startswith("<svg")


@pytest.mark.parametrize(
    ("claim", "title"),
    [
        (tr.epsilon(tr.Laplace(1), delta="1e-5"), "Privacy profile"),
        (tr.epsilon(tr.Laplace(1), delta=0), "Privacy profile"),
        (tr.delta(tr.Laplace(1), epsilon="1/2"), "Privacy profile"),
        (tr.pure(tr.Laplace(1)), "Privacy profile"),
        (tr.renyi(tr.Laplace(1), order=4), "Rényi curve"),
        (tr.zcdp(tr.Laplace(1)), "Rényi curve"),
        (tr.tcdp(tr.Laplace(1), omega=10), "Rényi curve"),
        (tr.tradeoff(tr.Laplace(1), fpr="0.1"), "Trade-off curve"),
        (tr.advantage(tr.Laplace(1)), "Trade-off curve"),
        (tr.gdp(tr.Laplace(1)), "Trade-off curve"),
    ],
    ids=lambda x: x.question.ask if isinstance(x, tr.Claim) else x,
)
def test_a_claim_draws_itself(claim, title):
    figure = claim.plot()
    assert isinstance(figure, plotting.Figure)
    assert figure.title == title
    if claim.question.ask == "delta":
        assert notes(figure) == [{"epsilon": 0.5, "upper": claim.upper, "words": "δ ≤ 0.2212"}]
    if claim.question.ask == "tradeoff":
        assert notes(figure)[0]["lower"] == claim.lower


def test_colours_and_dashes_are_told_apart():
    assert len(set(PALETTE)) == len(PALETTE)
    assert len({tuple(d) for d in DASHES}) == len(DASHES)
    names = [f"gaussian(sigma={i})" for i in range(1, 11)]
    figure = plotting.tradeoff(*names, points=2)
    colours = legend(figure)["scale"]["range"]
    dashes = figure.spec["layer"][-1]["encoding"]["strokeDash"]["scale"]["range"]
    assert len(set(zip(colours, map(tuple, dashes), strict=True))) == 10


def test_long_names_are_shortened():
    figure = plotting.tradeoff(" + ".join(f"gaussian(sigma={i})" for i in range(1, 9)), points=2)
    assert all(len(row["curve"]) == 64 and row["curve"].endswith("…") for row in rows(figure))
    assert all(math.isfinite(row["lower"]) for row in rows(figure))


def test_two_long_names_stay_two_curves():
    long = " + ".join(f"gaussian(sigma={i})" for i in range(1, 9))
    figure = plotting.tradeoff(long + " + laplace(scale=1)", long + " + laplace(scale=2)", points=2)
    assert len({row["curve"] for row in rows(figure)}) == 2


def test_the_command(tmp_path):
    target = str(tmp_path / "p.json")
    for arguments in (
        ("profile", RUN, "gaussian(sigma=1)"), ("tradeoff", RUN), ("renyi", RUN), ("calibration", "laplace(scale=?)"),
        ("steps", "gaussian(sigma=9) * 4"), ("noise", "gaussian(sigma=?)", "--epsilon", "1"),
    ):
        assert good("plot", *arguments, "--points", "2", "-o", target) == f"wrote {target}\n"
        assert json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["data"]["values"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("histogram", "gaussian(sigma=1)", "-o", "x.png"), "'calibration'"),
        (("profile", "-o", "x.png"), "Missing argument 'EXPR...'"),
        (("profile", "gaussian(sigma=1)"), "Missing option '-o'"),
        (("steps", "gaussian(sigma=1)", "pure(epsilon=1)", "-o", "x.png"), "one mechanism in a picture of steps"),
        (("profile", "gaussian(sigma=1)", "--epsilon", "1", "-o", "x.png"), "has no meaning in a picture of profile"),
        (("tradeoff", "gaussian(sigma=1)", "--delta", "1", "-o", "x.png"), "has no meaning in a picture of tradeoff"),
        (("tradeoff", "gaussian(sigma=1)", "--points", "2", "-o", "x.gif"), "must end in one of"),
        (("tradeoff", "gaussian(sigma=1)", "--points", "many", "-o", "x.png"), "is not a valid integer"),
        (("tradeoff", "gausian(sigma=1)", "-o", "x.png"), "Did you mean 'gaussian'?"),
    ],
)
def test_the_command_refuses(arguments, told):
    assert told in refused("plot", *arguments)
