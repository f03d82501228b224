"""`deepcrib --help`, written from the job table alone: nothing is imported that it does not show."""

from __future__ import annotations

from rich.table import Table

from deepcrib.jobs import JOBS
from deepcrib.jobs.shared.console import console


def print_overview() -> None:
    """The jobs with one line each, and examples."""
    out = console()
    out.print("[bold]deepcrib <job> \\[task] \\[name=value ...][/]   deep-RL agents for cribbage\n")
    jobs = Table.grid(padding=(0, 3))
    for job in JOBS.values():
        jobs.add_row(f"  [cyan]{job.name}[/]", job.summary)
        if job.tasks:
            jobs.add_row("", f"tasks: {', '.join(job.tasks)}")
    out.print(jobs)
    out.print("\nExamples")
    for job in JOBS.values():
        out.print(f"  {job.examples[0]}", markup=False)
    out.print("\ndeepcrib <job> --help lists a job's options; deepcrib --version prints the version.")
