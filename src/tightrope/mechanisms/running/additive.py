"""Noise on numbers: the Gaussian and Laplace mechanisms on a grid, their discrete forms on whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.discrete_gaussian import DiscreteGaussian
from tightrope.mechanisms.discrete_laplace import DiscreteLaplace
from tightrope.mechanisms.gaussian import Gaussian
from tightrope.mechanisms.laplace import Laplace
from tightrope.mechanisms.running.progress import Progress, followed
from tightrope.mechanisms.running.values import (
    SMALL,
    Values,
    exact_floats,
    narrowed,
    read,
    small_enough,
    whole_values,
)
from tightrope.noise.blocks import Shape, laplace_shape, normal_shape
from tightrope.noise.entropy import Source
from tightrope.noise.integers import discrete_laplace, discrete_normal
from tightrope.noise.recorder import drawing
from tightrope.noise.rounded import default_grid, nearest_float, on_grid, on_grid_exactly, on_whole_grid

Piecewise = Callable[[Source, NDArray[Any]], NDArray[Any]]


def released_gaussian(m: Gaussian, values: Any, out: Any = None, progress: Progress = None) -> Any:
    """round_g(x + N(0, σ²)) in every coordinate."""
    return _continuous(m, normal_shape(m.sigma), grid_of(m), values, out, progress)


def released_laplace(m: Laplace, values: Any, out: Any = None, progress: Progress = None) -> Any:
    """round_g(x + Lap(b)) in every coordinate."""
    return _continuous(m, laplace_shape(m.scale), grid_of(m), values, out, progress)


def grid_of(m: Gaussian | Laplace) -> Fraction:
    """The step of the outputs: the one set, or a power of two about 2^−20 of the noise's width."""
    return m.grid or default_grid(m.sigma if isinstance(m, Gaussian) else m.scale)


def released_discrete_gaussian(m: DiscreteGaussian, values: Any, out: Any = None, progress: Progress = None) -> Any:
    """x + N_ℤ(0, σ²) in every coordinate."""
    found = whole_values(values)
    total = len(found.flat)

    def piece(source: Source, x: NDArray[Any]) -> NDArray[Any]:
        return _moved(x, discrete_normal(source, m.sigma, len(x), total))

    return _in_pieces(m, found, np.int64, piece, out, progress)


def released_discrete_laplace(m: DiscreteLaplace, values: Any, out: Any = None, progress: Progress = None) -> Any:
    """x + discrete Laplace noise in every coordinate."""
    found = whole_values(values)
    total = len(found.flat)

    def piece(source: Source, x: NDArray[Any]) -> NDArray[Any]:
        return _moved(x, discrete_laplace(source, m.scale, len(x), total))

    return _in_pieces(m, found, np.int64, piece, out, progress)


def _moved(x: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """The exact sum. Its type depends on the sum alone: int64 if all entries are below 2^62, else Python integers."""
    if object not in (x.dtype, noise.dtype) and small_enough(x, SMALL) and small_enough(noise, SMALL):
        total: NDArray[Any] = x.astype(np.int64, copy=False) + noise
        return total if small_enough(total, SMALL) else total.astype(object)
    return narrowed(x.astype(object) + noise.astype(object))


def _continuous(m: Mechanism, shape: Shape, grid: Fraction, values: Any, out: Any, progress: Progress) -> Any:
    found = read(values)
    if found.whole and grid >= 1:
        return _in_pieces(m, found, np.int64, lambda s, x: _on_whole_grid(s, shape, x, grid), out, progress)
    if found.flat.dtype.kind == "f" or exact_floats(found.flat):

        def piece(source: Source, x: NDArray[Any]) -> NDArray[Any]:
            return on_grid(source, shape, x.astype(np.float64), grid)

        return _in_pieces(m, found, np.float64, piece, out, progress)
    kind = np.object_ if found.fractions else np.float64  # only fractions come back as fractions

    def exactly(source: Source, x: NDArray[Any]) -> NDArray[Any]:
        points = on_grid_exactly(source, shape, [Fraction(v) for v in x.tolist()], grid)
        result: NDArray[Any] = np.empty(len(points), kind)
        result[:] = [k * grid if found.fractions else nearest_float(k * grid) for k in points]
        return result

    return _in_pieces(m, found, kind, exactly, out, progress)


def _on_whole_grid(source: Source, shape: Shape, x: NDArray[Any], grid: Fraction) -> NDArray[Any]:
    step = int(grid)
    if x.dtype != object and small_enough(x, SMALL // 2):
        points = on_whole_grid(source, shape, x.astype(np.int64), grid)
        if points.dtype != object and small_enough(points, SMALL // step):
            return points * np.int64(step)
    else:
        points = np.array(on_grid_exactly(source, shape, [Fraction(v) for v in x.tolist()], grid), object)
    return narrowed(points.astype(object) * step)


def _in_pieces(
    m: Mechanism, found: Values, kind: type[np.generic], released: Piecewise, out: Any, progress: Progress
) -> Any:
    """The whole vector, piece by piece, into ``out`` or a new array of this kind: one draw in the record."""
    total = len(found.flat)
    target = None if out is None else _checked_out(out, found, kind)
    source = drawing(str(m), total, found.flat)
    parts: list[NDArray[Any]] = []
    with followed(progress, total) as told:
        for here, x in found.pieces():
            part = released(source, x)
            if target is None:
                parts.append(part)
            elif part.dtype == object:
                raise BadParameter("out", out.dtype.name, "cannot hold a released value of more than 62 bits")
            else:
                target[here] = part
            told(here.stop)
    if target is not None:
        return out
    return found.shaped(np.concatenate(parts) if parts else np.zeros(0, kind))


def _checked_out(out: Any, found: Values, kind: type[np.generic]) -> NDArray[Any]:
    if not isinstance(out, np.ndarray) or out.size != len(found.flat) or not out.flags.c_contiguous:
        raise BadParameter("out", type(out).__name__, f"must be a contiguous array of {len(found.flat)} entries")
    if out.dtype != np.dtype(kind):
        raise BadParameter("out", out.dtype.name, f"must have the type of the result, {kind.__name__}")
    return out.reshape(-1)
