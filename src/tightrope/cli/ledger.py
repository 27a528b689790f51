"""The commands ``tightrope ledger``: budgets that many people spend, on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

import tightrope as tr
from tightrope.numerics.exact import shortest


@click.group()
def ledger() -> None:
    """Budgets in a file or a database that cannot be overspent.

    LEDGER is the path of a file, or a postgresql:// address. The key that signs is LEDGER.key, unless --key or the
    variable TIGHTROPE_LEDGER_KEY names another file.

    \b
    Examples:
      tightrope ledger init budget.db
      tightrope ledger budget budget.db census --epsilon 1 --delta 1e-6
      tightrope ledger charge budget.db census "gaussian(sigma=40)" --purpose "age histogram"
      tightrope ledger status budget.db census
    """


_where = click.argument("where", metavar="LEDGER")
_key = click.option("--key", metavar="FILE", help="The file of the key that signs the ledger.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")


def _command(command: Callable[..., None]) -> Callable[..., None]:
    return ledger.command()(_where(command))


@contextmanager
def _opened(where: str, **how: Any) -> Iterator[tr.Ledger]:
    with tr.Ledger.open(where, create=False, **how) as found:
        try:
            yield found
        except tr.BudgetExceeded as refused:
            raise click.ClickException(str(refused)) from None


@_command
@_key
@click.option("--unsigned", is_flag=True, help="Create a ledger without signatures.")
def init(where: str, key: str | None, unsigned: bool) -> None:
    """Create a ledger, with a new key if there is none. One that exists is left as it is.

    Example: tightrope ledger init budget.db
    """
    with tr.Ledger.open(where, key=False if unsigned else key) as made:
        signed = "signed" if made.signed else "NOT signed: install tightrope[ledger] and give --key to sign it"
        click.echo(f"{where}: a ledger with {len(made.budgets())} budget(s), {signed}")


@_command
@click.argument("name")
@click.option("--epsilon", metavar="E", help="The ε of a budget of ε and δ.")
@click.option("--delta", metavar="D", help="The δ of a budget of ε and δ; 0 if not given.")
@click.option("--rho", metavar="R", help="A budget of ρ (zCDP).")
@click.option("--mu", metavar="M", help="A budget of μ (GDP).")
@click.option("--pure", metavar="E", help="A budget of pure ε.")
@click.option("--rule", help="pure, basic, zcdp, renyi, gdp, approx or exact; it never changes.")
@click.option("--leak", metavar="D", help="The part of δ for mechanisms with a δ of their own (zcdp, approx).")
@click.option("--orders", help="The orders of the rule renyi, separated by commas.")
@click.option("--relation", default="add-remove", show_default=True, help="add-remove or replace.")
@click.option("--unit", default="person", show_default=True, help="Whom the budget protects: person, household, event.")
@click.option("--owner", default="", help="Who is responsible.")
@click.option("--notes", default="", help="Anything to remember.")
@_key
def budget(where: str, name: str, key: str | None, orders: str | None, **told: Any) -> None:
    """Create the budget NAME. Its terms never change.

    \b
    Examples:
      tightrope ledger budget budget.db census --epsilon 1 --delta 1e-6
      tightrope ledger budget budget.db survey --rho 1/2 --unit household
    """
    given = {k: v for k, v in told.items() if v is not None}
    if orders is not None:
        given["orders"] = orders.split(",")
    with _opened(where, key=key) as found:
        found.create_budget(name, **given)
        click.echo(_status(found, name))


@_command
@click.argument("name")
@click.argument("mechanism", metavar="EXPR")
@click.option("--purpose", default="", help="What it is for.")
@click.option("--request-id", help="A name for this request; the same one charges only once.")
@click.option("--delta", metavar="D", help="The δ at which an ε is charged (rules basic and approx).")
@click.option("--plan", help="The request id of the plan that this is a step of.")
@_key
@_json
def charge(where: str, name: str, mechanism: str, key: str | None, as_json: bool, **told: Any) -> None:
    """Spend what EXPR costs from the budget NAME, and print the receipt. Exit code 1 if it does not fit.

    \b
    Example:
      tightrope ledger charge budget.db census "gaussian(sigma=40)" --purpose "age histogram" --request-id age-1
    """
    with _opened(where, key=key) as found:
        receipt = found.charge(name, tr.parse(mechanism), **told)
        click.echo(receipt.to_json() if as_json else f"entry {receipt.seq}, request {receipt.request_id}")
        if not as_json:
            click.echo(_status(found, name))


@_command
@click.argument("name", required=False)
@click.option("--fits", metavar="EXPR", help="Also say how many more of these fit.")
@_json
def status(where: str, name: str | None, fits: str | None, as_json: bool) -> None:
    """What is spent and what is left, of the budget NAME or of all.

    \b
    Example: tightrope ledger status budget.db census --fits "gaussian(sigma=40)"
    """
    with _opened(where, read_only=True) as found:
        names = [name] if name is not None else found.budgets()
        if as_json:
            click.echo(json.dumps({n: _numbers(found, n, fits) for n in names}, ensure_ascii=False))
            return
        for n in names:
            click.echo(_status(found, n))
            if fits is not None:
                click.echo(f"  fits      {found.fits(n, tr.parse(fits))} more of {fits}")


def _status(found: tr.Ledger, name: str) -> str:
    about, spent, left = found.budget(name), found.spent(name).upper, found.remaining(name).upper
    owner = f"; owner {about['owner']}" if about["owner"] else ""
    sums = (f"{u}: {_near(a['spent'])} of {_near(a['limit'])}, held {_near(a['held'])}" for u, a in _units(found, name))
    return "\n".join(
        [
            f"{name}: spent {spent:.10g}, left {left:.10g} ({_asked(found, name)})",
            f"  terms     {about['terms']}",
            f"  protects  one {about['unit']}, {about['relation']}{owner}",
            *(f"  {'sum' if k == 0 else '':<9} {line}" for k, line in enumerate(sums)),
        ]
    )


def _units(found: tr.Ledger, name: str) -> list[tuple[str, dict[str, Fraction]]]:
    return [(u, a) for u, a in found.amounts(name).items() if a["limit"] or a["spent"] or a["held"]]


def _asked(found: tr.Ledger, name: str) -> str:
    question = found.spent(name).question
    unit = {"zcdp": "ρ", "gdp": "μ", "pure": "pure ε", "renyi": "Rényi divergence"}.get(question.ask, "ε")
    return unit + "".join(f" at {n} {v}" for n, v in question.given)


def _near(x: Fraction) -> str:
    text = shortest(x)
    return text if len(text) <= 24 else f"{float(x):.12g}…"


def _numbers(found: tr.Ledger, name: str, fits: str | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "terms": found.terms(name).to_json(),
        "spent": json.loads(found.spent(name).to_json()),
        "remaining": json.loads(found.remaining(name).to_json()),
        "amounts": {u: {k: str(v) for k, v in a.items()} for u, a in found.amounts(name).items()},
    }
    if fits is not None:
        more = found.fits(name, tr.parse(fits))
        told["fits"] = more if isinstance(more, int) else "inf"
    return told


@_command
@click.argument("name", required=False)
@_json
def history(where: str, name: str | None, as_json: bool) -> None:
    """Every entry, of the budget NAME or of all, oldest first.

    Example: tightrope ledger history budget.db census
    """
    with _opened(where, read_only=True) as found:
        for e in found.history(name):
            if as_json:
                click.echo(json.dumps(e.told(), ensure_ascii=False))
            else:
                what = f"{e.mechanism or e.detail:.60}" + (f"  {e.purpose!r}" if e.purpose else "")
                click.echo(f"{e.seq:>7}  {e.at[:19]}  {e.kind:<8} {e.budget:<16} {what}")


@_command
@click.option("--receipt", "receipts", multiple=True, metavar="FILE", help="A file of receipts, one on each line.")
@click.option("--recount", is_flag=True, help="Also price every mechanism again.")
@_json
def verify(where: str, receipts: tuple[str, ...], recount: bool, as_json: bool) -> None:
    """Look for changed, missing, reordered or cut rows. Exit code 1 if anything is found.

    Keep the last receipt outside the ledger: only it shows that the end was cut off or an old copy put back.

    \b
    Example: tightrope ledger verify budget.db --receipt receipts.txt
    """
    try:
        lines = [line for path in receipts for line in Path(path).read_text(encoding="utf-8").splitlines() if line]
    except OSError as wrong:
        raise tr.LedgerError("the receipts", str(wrong)) from None
    known = [tr.Receipt.from_json(line) for line in lines]
    with _opened(where, read_only=True) as found, _bar() as progress:
        result = found.verify(known, recount=recount, progress=progress)
    if as_json:
        told = {"ok": bool(result), "entries": result.entries, "head": result.head, "signed": result.signed}
        click.echo(json.dumps({**told, "problems": list(result.problems)}, ensure_ascii=False))
    else:
        click.echo(str(result))
    if not result:
        raise click.exceptions.Exit(1)


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, for ledgers that take a while."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, label="verifying", file=sys.stderr) as bar:

        def progress(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield progress


@_command
@click.option("--format", "kind", type=click.Choice(["json", "csv"]), default="json", show_default=True)
@click.option("--output", metavar="FILE", help="Where to write; the terminal if not given.")
def export(where: str, kind: str, output: str | None) -> None:
    """Every entry for auditors, as JSON or CSV.

    \b
    Example: tightrope ledger export budget.db --format csv --output entries.csv
    """
    with _opened(where, read_only=True) as found:
        found.export(output if output is not None else sys.stdout, kind)


@_command
@click.argument("name")
@click.option("--output", metavar="FILE", help="Where to write; NAME.svg if not given.")
def plot(where: str, name: str, output: str | None) -> None:
    """A picture of the spending of the budget NAME over time, as SVG.

    Example: tightrope ledger plot budget.db census --output census.svg
    """
    from tightrope.budget.picture import picture

    with _opened(where, read_only=True) as found:
        drawn = picture(name, found.terms(name), found.history(name))
    path = Path(output if output is not None else f"{name}.svg")
    path.write_text(drawn, encoding="utf-8")
    click.echo(f"{path}: written")
