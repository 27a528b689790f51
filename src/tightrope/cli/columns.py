"""One column of a CSV or Parquet file, read piece by piece: the file may be larger than memory."""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.running.categories import places as different

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PARQUET = (".parquet", ".pq")
UNSHOWN = "…"  # an error names the place, never the data
LONGEST = 1 << 62  # whole numbers are kept in 64 bits

Cell = str | int | float | bool | None
Cells = Iterator[tuple[int, Cell]]  # (line of the file, or row of the table; what stands there; None for nothing)


def place_word(path: Path) -> str:
    """What the places of cells are called."""
    return "row" if path.suffix.lower() in PARQUET else "line"


def cells(path: Path, column: str | None, delimiter: str = ",") -> Cells:
    """The cells of a column with their places; without a column, one None for every record."""
    if path.suffix.lower() in PARQUET:
        return _parquet(path, column)
    return _csv(path, column, delimiter)


def _csv(path: Path, column: str | None, delimiter: str) -> Cells:
    with path.open(newline="", encoding="utf-8-sig") as lines:
        try:
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            header = next(reader, None)
            if not header:
                raise BadParameter("FILE", str(path), "is empty: its first line must name the columns")
            at = None if column is None else _place(column, header)
            for row in reader:
                if not row:
                    continue  # an empty line is no record
                if len(row) != len(header):
                    raise BadParameter(
                        "FILE", str(path), f"line {reader.line_num} has {len(row)} cells and the header {len(header)}"
                    )
                yield reader.line_num, None if at is None else row[at] or None
        except csv.Error as wrong:
            raise BadParameter("FILE", str(path), f"is not CSV ({wrong})") from None
        except UnicodeDecodeError:
            raise BadParameter("FILE", str(path), "is not text in UTF-8", hint="Save it as UTF-8 first.") from None


def _parquet(path: Path, column: str | None) -> Cells:
    try:
        from pyarrow import ArrowInvalid, parquet  # type: ignore[import-untyped,unused-ignore]  # it has no types
    except ImportError:
        raise Unsupported(
            "reading Parquet", "the package pyarrow is not installed",
            hint="pip install 'tightrope[tables]' brings it; CSV needs nothing.",
        ) from None
    with path.open("rb") as opened:
        try:
            table = parquet.ParquetFile(opened)
        except ArrowInvalid:
            raise BadParameter("FILE", str(path), "is not Parquet") from None
        names = table.schema_arrow.names
        wanted = [names[_place(column, names)]] if column is not None else names[:1]
        row = 0
        for batch in table.iter_batches(columns=wanted):
            for value in batch.column(0).to_pylist():
                row += 1
                yield row, None if column is None else value


def _place(column: str, names: list[str]) -> int:
    """Where a column stands; its name must be there exactly once."""
    if names.count(column) == 1:
        return names.index(column)
    if column in names:
        raise BadParameter("--column", column, "is the name of several columns", hint="Rename all but one.")
    listed = ", ".join(repr(name) for name in names[:20]) + (", …" if len(names) > 20 else "")
    raise BadParameter("--column", column, "is not in the file", hint=f"Its columns are {listed}.")


def held(found: Cells) -> int:
    """How many cells there are that hold something."""
    return sum(value is not None for _, value in found)


def records(found: Cells) -> int:
    """How many cells there are."""
    return sum(1 for _ in found)


def numbers(found: Cells, where: str, missing: float | int | None, whole: bool) -> NDArray[Any]:
    """The numbers of a column, as 64-bit floats or, if ``whole``, integers; ``missing`` stands in empty cells.

    ``where`` begins what an error says of the place, such as "age in line".
    The type is fixed beforehand and not by what the cells hold: the noise depends on it.
    """
    import numpy as np

    read: Callable[[Cell], float | int | None] = _integer if whole else _float
    kept: array[Any] = array("q" if whole else "d")
    for place, cell in found:
        value = missing if cell is None else read(cell)
        if value is None:
            kind = "a whole number below 2**62 in size" if whole else "a finite number"
            hint = "--missing V takes V for empty cells." if cell is None else "Nothing was released."
            raise BadParameter(f"{where} {place}", UNSHOWN, f"must be {kind}", hint=hint)
        kept.append(value)
    values: NDArray[np.int64 | np.float64] = np.frombuffer(kept, np.int64 if whole else np.float64)
    return values


def _float(cell: Cell) -> float | None:
    if isinstance(cell, bool) or (isinstance(cell, str) and "_" in cell):
        return None
    try:
        value = float(cell)  # type: ignore[arg-type]  # what is no number is refused in the next line
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _integer(cell: Cell) -> int | None:
    if isinstance(cell, bool) or (isinstance(cell, str) and "_" in cell):
        return None
    try:
        value = int(cell)  # type: ignore[arg-type]  # likewise
    except (TypeError, ValueError, OverflowError):
        return None
    return value if abs(value) < LONGEST and (isinstance(cell, str) or value == cell) else None


def places(found: Cells, categories: list[str]) -> NDArray[np.int64]:
    """For every cell the place of its text among the categories, −1 where it is none of them."""
    import numpy as np

    among = different("--categories", categories)
    kept = array("q", (among.get("" if cell is None else str(cell), -1) for _, cell in found))
    return np.frombuffer(kept, np.int64)
