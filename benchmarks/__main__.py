"""`python -m benchmarks`: run benches and write what they measured."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.bench import NAMES, run_bench
from benchmarks.measure import in_new_process
from benchmarks.plan import Plan
from benchmarks.results import Results, section

_HERE = Path(__file__).parent
_EXAMS = _HERE.parent.parent / "shared" / "data" / "exams"
_VLLM = _HERE.parent / ".venv-vllm"


def main(
    only: Annotated[str, typer.Option(help=f"Some of {','.join(NAMES)}; default: all.")] = "",
    exams: Annotated[Path, typer.Option(help="Folder of ML_nn.jsonl and CN_saf.jsonl.")] = _EXAMS,
    profile: Annotated[
        str | None, typer.Option(help="Model profile; default: that of the settings.")
    ] = None,
    vllm: Annotated[
        Path, typer.Option(help="Virtual environment with vLLM; default: that of `make vllm`.")
    ] = _VLLM,
    quick: Annotated[
        bool, typer.Option(help="Tiny counts and a tiny random model; writes nothing by itself.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: benchmarks/.")
    ] = None,
) -> None:
    """Measure, each bench in a process of its own, and keep the numbers."""
    names = [name.strip() for name in only.split(",") if name.strip()] or list(NAMES)
    if unknown := sorted(set(names) - set(NAMES)):
        raise typer.BadParameter(f"there is no bench {', '.join(unknown)}", param_hint="--only")
    if not quick:
        from service.settings import load_settings

        profile = profile or load_settings().profile
        out = out or _HERE
    plan = Plan(quick=quick, profile=profile, exams=exams.resolve(), vllm=vllm.absolute())
    failed = False
    for name in names:
        typer.echo(f"{name} …", err=True)
        try:
            result = in_new_process(run_bench, name, plan, _command(name, plan))
        except Exception as error:
            # The others may take an hour; this one must not cost them.
            typer.echo("".join(traceback.format_exception(error)), err=True)
            failed = True
            continue
        typer.echo(section(name, result))
        # A bench that found nothing to measure does not take the place of one that did.
        if out is not None and result.rows:
            Results.read(out).having(name, result).write(out)
    raise typer.Exit(int(failed))


def _command(name: str, plan: Plan) -> str:
    parts = ["python -m benchmarks", f"--only {name}"]
    parts += [f"--profile {plan.profile}"] if plan.profile else []
    parts += ["--quick"] if plan.quick else []
    return " ".join(parts)


if __name__ == "__main__":
    typer.run(main)
