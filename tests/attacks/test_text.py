"""Hostile text: nothing is guessed, nothing is run, nothing takes long, and the error points at the place."""

import time

import pytest

import tightrope as tr

GOOD = "gaussian(sigma=1).poisson(0.01) * 100 + laplace(scale=2) * 20"


def refused(text):
    start = time.process_time()
    with pytest.raises(tr.TightropeError) as caught:
        tr.parse(text)
    assert time.process_time() - start < 5
    error = caught.value
    assert isinstance(error, (tr.BadText, tr.BadParameter, tr.Unsupported, tr.RelationMismatch))
    assert str(error)
    if isinstance(error, tr.BadText):
        assert 0 <= error.position <= max(len(error.text), len(text))
        assert error.problem
    return error


UNBALANCED = [
    "",
    " ",
    "\n",
    "(",
    ")",
    "()",
    "((",
    "gaussian",
    "gaussian(",
    "gaussian)",
    "gaussian(sigma=1",
    "gaussian(sigma=1))",
    "(gaussian(sigma=1)",
    "gaussian(sigma=1)) + laplace(scale=1)",
    "gaussian(sigma=1) +",
    "+ gaussian(sigma=1)",
    "gaussian(sigma=1) + + gaussian(sigma=1)",
    "gaussian(sigma=1) gaussian(sigma=1)",
    "gaussian(sigma=1).",
    "gaussian(sigma=1)..poisson(1)",
    ".poisson(0.1)",
    "gaussian(sigma=1).poisson",
    "gaussian(sigma=1).poisson(0.1",
    "gaussian(sigma=1) *",
    "* 3",
    "3 * gaussian(sigma=1)",
    "gaussian(sigma=,)",
    "gaussian(,1)",
    "gaussian(sigma=1,)",
    "gaussian(sigma=1,,sensitivity=1)",
    "gaussian(=1)",
    "gaussian(sigma==1)",
    "gaussian(sigma:1)",
    "table(p=[0.5, 0.5, q=[0.5, 0.5])",
    "rdp({2: 0.1)",
    "rdp({2 0.1})",
    "rdp({2: 0.1, })",
    "rdp({})",
    "rdp({2: 0.1, 2: 0.2})",
    "table(p=[], q=[])",
    "gaussian[1]",
    "gaussian{1}",
    "gaussian(sigma=1]",
]


@pytest.mark.parametrize("text", UNBALANCED)
def test_broken_text_is_refused(text):
    refused(text)


@pytest.mark.parametrize("cut", range(1, len(GOOD)))
def test_every_prefix_is_refused_or_a_mechanism_of_its_own(cut):
    text = GOOD[:cut]
    try:
        m = tr.parse(text)
    except tr.TightropeError:
        return
    assert tr.parse(str(m)) == m


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("position", range(0, len(GOOD), 3))
@pytest.mark.parametrize("character", ["\x00", "é", "#", "'", "\\", "$", "\u202e", "😀", ";"])
def test_foreign_characters_are_refused(position, character):
    error = refused(GOOD[:position] + character + GOOD[position:])
    if isinstance(error, tr.BadText):
        assert error.position <= position + 1


@pytest.mark.parametrize(
    "count", ["-1", "1.5", "1e3", "abc", "1/2", "+2", "0x10", "10000000000000000000", "9" * 5000, "", "?", "٣"]
)
def test_counts_in_text_are_whole_numbers(count):
    refused(f"gaussian(sigma=1) * {count}")


def test_zero_runs_are_free():
    m = tr.parse("gaussian(sigma=1) * 0")
    assert str(m) == "gaussian(sigma=1) * 0"
    assert tr.epsilon(m, delta=0).upper == 0


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("gausian(sigma=1)", "gaussian"),
        ("Gaussian(sigma=1)", "gaussian"),
        ("lapalce(scale=1)", "laplace"),
        ("randomised_response(epsilon=1)", "randomized_response"),
        ("gaussian(sigma=1).poison(0.1)", "poisson"),
        ("zcpd(rho=1)", "zcdp"),
        ("gaussian(sigma=1).groups(2)", "group"),
        ("discrete_gausian(sigma=1)", "discrete_gaussian"),
    ],
)
def test_unknown_names_are_refused_with_a_suggestion(text, meant):
    error = refused(text)
    assert f"'{meant}'" in error.hint


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "eval(1)",
        "gaussian(sigma=__class__)",
        "gaussian(sigma=1).__class__()",
        "gaussian(sigma=1).__init__(2)",
        "gaussian(sigma=1).mu()",
        "gaussian(sigma=1).for_group(2)",
        "gaussian(sigma=1).release(1)",
        "gaussian(sigma=1).relation()",
        "stated(1)",
        "gaussian(**{})",
        "gaussian(*[1])",
        "gaussian(sigma=lambda: 1)",
        "gaussian(sigma=1); laplace(scale=1)",
        "gaussian(sigma=1) # comment",
        "gaussian(sigma=1)\x00",
        "gaussian(sigma='1')",
        'gaussian(sigma="1")',
        "gaussian(sigma=1 if 1 else 2)",
        "gaussian(sigma=10**9)",
        "gaussian(sigma=1+1)",
        "gaussian(sigma=${HOME})",
        "<script>alert(1)</script>",
        "gaussian(sigma=1)' OR '1'='1",
        "repeated(gaussian(sigma=1), 2)",
        "leaf()",
        "mechanism()",
        "parallel()",
        "parallel(1)",
        "parallel(relation=replace)",
        "gaussian(sigma=gaussian(sigma=1))",
        "gaussian(sigma=true)",
        "gaussian(sigma=replace)",
        "gaussian(sigma=[1])",
        "gaussian(sigma={1: 2})",
        "exponential(epsilon=1, monotone=1)",
        "exponential(epsilon=1, monotone=True)",
        "gaussian(sigma=1).poisson(0.1, relation=both)",
        "gaussian(sigma=1).poisson(0.1, relation='replace')",
        "table(p=0.5, q=0.5)",
        "table(p=[[1]], q=[1])",
        "rdp({2: {2: 1}})",
        "rdp([2, 1])",
        "gaussian(self=1)",
        "gaussian(sigma=1).poisson(self=1)",
    ],
)
def test_nothing_but_mechanisms_is_read(text):
    refused(text)


@pytest.mark.parametrize(
    "text",
    [
        "gaussian(sigma=1, sigma=2)",
        "gaussian(1, sigma=2)",
        "gaussian(1, 2, 3)",
        "gaussian(sigma=1, 2)",
        "gaussian()",
        "gaussian(sigma=1, sigm=2)",
        "gaussian(sigma=1).poisson()",
        "gaussian(sigma=1).poisson(0.1, 0.2, 0.3)",
        "gaussian(sigma=1).poisson(rate=0.1, rate=0.1)",
        "gaussian(sigma=1).group(1, 2)",
        "randomized_response()",
        "randomized_response(epsilon=1, p=0.5)",
    ],
)
def test_wrong_arguments_are_refused(text):
    refused(text)


@pytest.mark.parametrize(
    "value",
    [
        "nan",
        "inf",
        "-inf",
        "1/0",
        "1e99999999",
        "1e-99999999",
        "--1",
        "1.2.3",
        ".",
        "1e",
        "1/2/3",
        "1.5/2",
        "1e3/7",
        "٣",
        "²",
        "1_0",
    ],
)
def test_numbers_in_text_are_plain(value):
    refused(f"gaussian(sigma={value})")


@pytest.mark.parametrize("depth", [60, 1000, 100_000])
@pytest.mark.parametrize(
    ("opened", "closed"),
    [("(", ")"), ("parallel(", ")"), ("table(p=[", "], q=[1])"), ("table(p=" + "[" * 5, "]" * 5 + ")")],
)
def test_deep_nesting_is_refused_quickly(depth, opened, closed):
    refused(opened * depth + "gaussian(sigma=1)" + closed * depth)


@pytest.mark.parametrize("opened", ["[", "{2: ", "[{2: "])
def test_deep_lists_are_refused(opened):
    for depth in (100, 2000, 100_000):
        refused("table(p=" + opened * depth)


def test_nesting_that_is_allowed():
    m = tr.parse("(" * 20 + "gaussian(sigma=1)" + ")" * 20)
    assert m == tr.Gaussian(1)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10**6,
        "a" * 10**6,
        " " * 10**6,
        "1" * 10**6,
        "gaussian(sigma=" + "1" * 10**6 + ")",
        "gaussian(sigma=1)" + ".group(1)" * 10**5 + "x",
        "gaussian(sigma=1) + " * 50_000,
        "+" * 10**6,
        "[" * 10**6,
        "gaussian(sigma=1)" * 50_000,
        "gaussian(sigma=1) * " + "9" * 10**6,
        "é" * 10**6,
        "table(p=[" + "0," * 400_000 + "1], q=[1])",
    ],
    ids=lambda t: f"{t[:18]}… {len(t)}",
)
def test_a_million_characters(text):
    refused(text)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_long_but_honest_text_is_read_quickly():
    text = " + ".join(f"gaussian(sigma={i})" for i in range(1, 3001))
    start = time.process_time()
    m = tr.parse(text)
    assert str(m) == text
    assert time.process_time() - start < 2


def test_spelling_freedom():
    assert tr.parse(" gaussian ( sigma = 1 ) . poisson( 1 / 100 )*100+laplace(2)*20 ") == tr.parse(GOOD)
    assert tr.parse("gaussian(1.0, 1e0)") == tr.Gaussian(1)
    assert tr.parse("randomized_response(p=3/4, k=3)") == tr.RandomizedResponse(p="0.75", k=3)
    assert tr.parse("zcdp(0.1, xi=-0.05)") == tr.ZCDP("0.1", "-0.05")


def test_calibrate_text():
    for text in (
        "gaussian(sigma=1)",
        "gaussian(sigma=?) + laplace(scale=?)",
        "?",
        "",
        "gaussian(sigma=?",
        "gausian(sigma=?)",
        "gaussian(sigma=1?)x",
    ):
        with pytest.raises(tr.TightropeError):
            tr.calibrate(text, epsilon=1, delta=1e-5)


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("gaussian(sgma=1)", "gaussian has no parameter 'sgma'.*Did you mean 'sigma'"),
        ("gaussian(sigma=1).poisson(0.1, rat=2)", "poisson has no parameter 'rat'.*Did you mean 'rate'"),
        ("gaussian(sigma=1).poisson(0.1, relation=replac)", "'replac' is not a known relation.*Did you mean 'replace'"),
        ("gaussian(sigma=1).poisson(0.1, relation=5)", "'5' is not a known relation.*add-remove, replace"),
        ("gaussian(sigma=1).poisson(0.1, relation=", "'the end' is not a known relation"),
        ("10 * gaussian(sigma=1)", r"expected a mechanism, found '10'.*last: gaussian\(sigma=1\) \* 10"),
        ("gaussian(sigma=1) * 1e9", "Write the number of runs out"),
        ("gaussian(sigma=1", r"expected ',' or '\)', found 'the end'"),
        ("gaussian(1, 2, 3, 4)", r"Its form is gaussian\(sigma, sensitivity=1, grid=None\)"),
    ],
)
def test_a_typo_in_a_parameter_is_named(text, help):
    with pytest.raises(tr.BadText, match="(?s)" + help):
        tr.parse(text)
