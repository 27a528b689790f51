"""The reference of the grid's tests against values found by other methods: quadrature, residues, contours."""

import grid_reference as ref
import pytest

NORMAL, LAPLACE = ref.Normal(), ref.Laplace()
GLUED, EXCHANGED = ref.Glued(ref.Sampled(LAPLACE, 1.0, 0.2)), ref.Exchanged(LAPLACE, 1.0, 0.2)
TOP, WIDE = GLUED.kinks[1], EXCHANGED.kinks[1]  # largest losses

# law, copies, x, unit, reach, δ
VECTORS = [
    (ref.Glued(ref.Sampled(NORMAL, 1.0, 0.1)), 2, 0.4, 0.4, 8, 0.00769604553164),
    (ref.Exchanged(NORMAL, 1.0, 0.1), 2, 0.5, 0.5, 8, 0.00922195192450914),
    (ref.Exchanged(NORMAL, 1.0, 0.1), 10, 1.5, 1.5, 8, 0.00626682673923836),
    (ref.drawn(0.5, 3, 10), 2, 0.5, 0.5, 12, 0.0083015395796),
    (ref.Sampled(NORMAL, 1.0, 0.1), 2, 1.5, 1.5, 8, 6.11304935242823951e-5),
    (ref.Sampled(LAPLACE, 1.0, 0.1), 2, 0.15, 0.15, 0.2, 0.0112124754218833),
    (ref.Sampled(LAPLACE, 1.0, 0.1, True), 2, 0.1, 0.1, 0.2, 0.009832455357411),
    (GLUED, 2, TOP * 0.75, TOP / 4, TOP, 0.0443049566590423),  # these two by nested quadrature with 30 digits
    (EXCHANGED, 2, WIDE * 0.75, WIDE / 4, WIDE, 0.06879002007387872),
    (ref.Sampled(LAPLACE, 1.0, 1.0), 2, 0.5, 0.5, 1.0, 0.35049598998110477769),
    (ref.Sampled(LAPLACE, 1.0, 1.0), 10, 3.3, 0.1, 1.0, 0.43037406620325278082),
]


@pytest.mark.parametrize(("law", "copies", "x", "unit", "reach", "delta"), VECTORS)
def test_known_values(law, copies, x, unit, reach, delta):
    value, error = ref.reference([(law, copies)], x, unit, reach, 2**11)
    assert abs(value - delta) < error + 1e-14
    assert error < 1e-6 * delta


@pytest.mark.parametrize("law", [law for law, *_ in VECTORS])
def test_masses_and_profiles_belong_together(law):
    """Both are found apart from each other: on a lattice δ₁ is the sum over the masses."""
    n, h = 4096, 1 / 512
    masses = ref.lattice(law, n, h)
    assert masses.sum() == pytest.approx(1, abs=1e-9)
    losses = ref.np.arange(-n, n + 1) * h
    for x in (-0.1, 0.05, 0.3):
        there = round(x / h) * h
        value = (masses * ref.np.maximum(-ref.np.expm1(there - losses), 0)).sum()
        assert value == pytest.approx(float(law.profile(ref.np.array([there]))[0]), abs=3e-6)
