"""Training flags: rate and steps are derived and said, and each sampler gets its own mechanism."""

import json

import pytest
from commands import good, refused

import tightrope as tr

SIZES = ("--batch-size", "256", "--dataset-size", "60000", "--epochs", "10")
NOISE = ("--noise-multiplier", "1.1")
DELTA = ("--delta", "1e-5")


def asked(sampler):
    found = json.loads(good("epsilon", *NOISE, *SIZES, *DELTA, "--sampler", sampler, "--json"))
    return found["mechanism"], found["relation"], found["upper"]


def test_rate_and_steps_are_derived_and_said():
    printed = good("epsilon", *NOISE, *SIZES, *DELTA)
    assert printed.splitlines()[0] == (
        "noise multiplier 1.1, batch size 256, dataset size 60000, epochs 10, so rate 8/1875 ≈ 0.00426667, "
        "so 2344 steps; poisson batches: gaussian(sigma=1.1).poisson(8/1875) * 2344"
    )
    claim = tr.epsilon(tr.dpsgd("1.1", batch_size=256, dataset_size=60000, epochs=10), delta="1e-5")
    assert f"bound     [{claim.lower!r}, {claim.upper!r}]" in printed


def test_rate_and_steps_as_given():
    flags = (*NOISE, "--sample-rate", "0.01", "--steps", "1000")
    printed = good("epsilon", *flags, *DELTA)
    assert printed.startswith("noise multiplier 1.1, sample rate 0.01, steps 1000; poisson batches: ")
    claim = tr.epsilon(tr.Gaussian("1.1").poisson("0.01") * 1000, delta="1e-5")
    assert good("epsilon", *flags, *DELTA, "--json") == claim.to_json() + "\n"
    one = good("epsilon", *NOISE, "--sample-rate", "1/2", "--epochs", "0.5", *DELTA)
    assert "so 1 steps" in one


def test_poisson_is_add_remove_at_sensitivity_one():
    assert asked("poisson")[:2] == ("gaussian(sigma=1.1).poisson(8/1875) * 2344", "add-remove")


def test_fixed_batches_have_sensitivity_two_under_replace():
    text, relation, upper = asked("fixed")
    assert text == "gaussian(sigma=1.1, sensitivity=2).without_replacement(256, 60000) * 2344"
    assert relation == "replace"
    assert upper > asked("poisson")[2]


def test_shuffling_never_borrows_the_number_of_poisson():
    text, relation, upper = asked("shuffle")
    assert "poisson" not in text
    assert "sensitivity=2" in text
    assert relation == "replace"
    assert upper > 2 * asked("poisson")[2]


@pytest.mark.parametrize("sampler", ["Poisson", "fixed-size", ""])
def test_unknown_samplers_are_refused(sampler):
    assert "'poisson', 'fixed', 'shuffle'" in refused("epsilon", *NOISE, *SIZES, *DELTA, "--sampler", sampler)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ((*NOISE, "--steps", "5"), "sample_rate = None: must be given, or batch_size together with dataset_size"),
        ((*NOISE, "--sample-rate", "0.1"), "exactly one of steps and epochs must be given. Neither"),
        ((*NOISE, "--sample-rate", "256", "--steps", "5"), "It is batch size / number of records"),
        ((*NOISE, "--batch-size", "9", "--dataset-size", "5", "--steps", "5"), "must not exceed dataset_size (5)"),
        ((*NOISE, "--batch-size", "9", "--steps", "5"), "with dataset_size. dataset_size is missing"),
        (("--noise-multiplier", "-1", "--sample-rate", "0.1", "--steps", "5"), "noise_multiplier = '-1'"),
        ((*NOISE, "--sample-rate", "0.1", "--steps", "1.5"), "steps"),
        ((*NOISE, *SIZES, "--steps", "7"), "exactly one of steps and epochs must be given. Both were given"),
        ((*NOISE, *SIZES, "--sample-rate", "0.1"), "must not be given together with batch_size"),
    ],
)
def test_bad_flags_are_refused(flags, told):
    assert told in refused("epsilon", *flags, *DELTA)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_every_question_takes_training_flags():
    flags = (*NOISE, "--sample-rate", "0.01", "--steps", "100")
    run = tr.dpsgd("1.1", sample_rate="0.01", steps=100)
    assert good("delta", *flags, "--epsilon", "1", "--json") == tr.delta(run, epsilon=1).to_json() + "\n"
    assert good("renyi", *flags, "--order", "8", "--json") == tr.renyi(run, order=8).to_json() + "\n"
    assert good("tradeoff", *flags, "--fpr", "0.1", "--json") == tr.tradeoff(run, fpr="0.1").to_json() + "\n"
    assert good("explain", *flags, *DELTA, "--json") == tr.epsilon(run, delta="1e-5").to_json() + "\n"
    assert good("cite", *flags, *DELTA).endswith(tr.epsilon(run, delta="1e-5").bibtex() + "\n")
    rows = json.loads(good("profile", *flags, "--epsilon", "1", "--json"))
    lower, upper = tr.profile(run).delta(["1"])
    assert rows == [{"epsilon": "1", "lower": lower[0], "upper": upper[0]}]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("flags", "what"),
    [
        (("--sample-rate", "0.01", "--steps", "1000"), "noise multiplier"),
        (("--noise-multiplier", "1", "--sample-rate", "0.01"), "steps"),
        (("--noise-multiplier", "2", "--steps", "1000"), "sample rate"),
    ],
)
def test_calibrate_finds_the_flag_that_is_missing(flags, what):
    printed = good("calibrate", *flags, "--epsilon", "1", *DELTA)
    assert printed.startswith(f"{what} ")
    assert "meets the target" in printed
    found = json.loads(good("calibrate", *flags, "--epsilon", "1", *DELTA, "--json"))
    assert found["claim"]["upper"] <= 1 < found["beyond"]["upper"]


@pytest.mark.parametrize("flags", [(*NOISE, "--sample-rate", "0.1", "--steps", "5"), NOISE])
def test_calibrate_needs_exactly_one_open_flag(flags):
    assert "must leave exactly one thing open" in refused("calibrate", *flags, "--epsilon", "1", *DELTA)
