"""Run histories: ``--seed 7`` shows one, smaller if it breaks a promise; ``--seeds 0 1000`` runs many."""

import argparse
import gc
import sys
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import replace
from time import process_time

import lowregret as lr

from .audit import audit
from .workload import Simulation, plan_of
from .world import ViolationError


def simulate(plan, mutation=None):
    """Run a plan and audit it; return the violation, None if there is none, and the simulation.

    The agents live while ``mutation`` is in force, a context manager; the audit does not.
    """
    collecting = gc.isenabled()
    gc.disable()  # it would close stores at moments that no seed determines
    simulation = Simulation(plan)
    try:
        with mutation or nullcontext():
            simulation.run()
        audit(simulation)
    except ViolationError as violation:
        return violation, simulation
    finally:
        simulation.close()
        if collecting:
            gc.enable()
    return None, simulation


def smaller_plans(plan):
    """Yield plans that are a little smaller."""
    operations, size = plan.operations, len(plan.operations) // 2
    while size:
        for start in range(0, len(operations), size):
            yield replace(plan, operations=operations[:start] + operations[start + size :])
        size //= 2
    for place, operation in enumerate(operations):
        if operation.fault is not None:
            calm = operation._replace(fault=None)
            yield replace(plan, operations=[*operations[:place], calm, *operations[place + 1 :]])
    for name in plan.settings:
        settings = {key: plan.settings[key] for key in plan.settings if key != name}
        with suppress(lr.InputError, TypeError):
            lr.Agent(**settings)
            yield replace(plan, settings=settings)


def shrink(plan, rule):
    """Return a plan of a few operations that breaks the same rule, under one of a few schedules."""
    for candidate in smaller_plans(plan):
        for schedule in (plan.schedule, 1, 2, 3):
            candidate = replace(candidate, schedule=schedule)
            violation, _ = simulate(candidate)
            if violation is not None and violation.rule == rule:
                return shrink(candidate, rule)
    return plan


def describe(plan, simulation, violation):
    """Print what happened: the plan, the calls with their answers, and the commits."""
    print(f"{plan.settings}\n{plan.constants}\n{plan.processes} processes of {plan.threads} threads")
    print("\nOperations:", *plan.operations, sep="\n  ")
    print("\nCalls:", *(str(call)[:600] for call in simulation.world.calls), sep="\n  ")
    print("\nCommits:")
    for place, commit in enumerate(simulation.world.commits):
        for step, what in commit.steps:
            lines = what if step == "append" else [what if step == "erase" else what[0]]
            print(*(f"  {place} at {commit.time:.3f}: {step} {line}" for line in lines), sep="\n")
    print(f"\n{violation or 'No promise was broken.'}")


def run_many(seeds):
    """Run seeds, print those that break a promise and what was run; return how many break one."""
    start, broken, sums, faults = process_time(), 0, Counter(), Counter()
    for seed in seeds:
        plan = plan_of(seed)
        violation, simulation = simulate(plan)
        steps = [step for commit in simulation.world.commits for step in commit.steps]
        sums["operations"] += len(plan.operations)
        sums["events"] += sum(len(what) for step, what in steps if step == "append")
        sums["calls without an answer"] += sum(call.outcome is None for call in simulation.world.calls)
        faults.update(simulation.world.faults)
        if violation is not None:
            broken += 1
            print(f"seed {seed}: {str(violation)[:500]}", flush=True)
        if seed % 100 == 99:
            gc.collect()
        if seed % 1_000 == 999:
            print(f"up to seed {seed:,}: {broken} broken, {process_time() - start:.0f} s", flush=True)
    print(f"{len(seeds):,} seeds, {broken} broken, {process_time() - start:.0f} s")
    print(*(f"{sums[name]:,} {name}" for name in sums), sep=", ")
    print(f"{faults.total():,} faults:", ", ".join(f"{kind} {faults[kind]:,}" for kind in sorted(faults)))
    return broken


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seeds", type=int, nargs=2, metavar=("FIRST", "END"))
    options = parser.parse_args()
    if options.seeds:
        sys.exit(run_many(range(*options.seeds)) > 0)
    plan = plan_of(options.seed or 0)
    violation, simulation = simulate(plan)
    if violation is not None:
        plan = shrink(plan, violation.rule)
        violation, simulation = simulate(plan)
    describe(plan, simulation, violation)
    sys.exit(violation is not None)


if __name__ == "__main__":
    main()
