"""JAX: UCB1 and Gaussian Thompson sampling, written by us for this comparison, all runs at once.

``scan and vmap`` is one run as a ``lax.scan``, turned into many by ``vmap``, with a new key at every step:
what a user of JAX writes first. ``in blocks`` is the same with the random numbers of many steps drawn at
once. ``by hand`` also keeps arms by runs and takes the arg max in two steps, which the compiler turns into
better machine code. Numbers are of single precision, which is JAX's default and favours it; the last form is
also played in double precision, in which ours always is.
"""

import os

os.environ["PJRT_NPROC"] = "1"  # one thread, as ours has; must be set before JAX starts

from functools import partial
from time import perf_counter

import jax
import jax.numpy as jnp
from playing import MEANS, RUNS, STEPS, say

BLOCK = 500
"""So many steps have their random numbers drawn at once, which is quicker than step by step."""
REPEATS = 3

ARMS = len(MEANS)


def ucb1(n, s, t, z):
    return jnp.where(n > 0, s / n + jnp.sqrt(2.0 * jnp.log(t) / n), jnp.inf)


def thompson_gauss(n, s, t, z):
    return s / (n + 1.0) + z / jnp.sqrt(n + 1.0)


def one_by_one(step, state, key, shape, normals):
    """Take all steps, each with a key of its own."""

    def drawing(state, t):
        state, key = state
        key, first, second = jax.random.split(key, 3)
        z = jax.random.normal(second, shape) if normals else t
        return (step(state, (t, jax.random.uniform(first, shape[1:]), z))[0], key), None

    (state, _), _ = jax.lax.scan(drawing, (state, key), jnp.arange(1.0, STEPS + 1.0))
    return state


def in_blocks(step, state, key, shape, normals):
    """Take all steps, with random numbers drawn block by block."""

    def block(state, part):
        start, key = part
        first, second = jax.random.split(key)
        t = start + jnp.arange(1.0, BLOCK + 1.0)
        u = jax.random.uniform(first, (BLOCK, *shape[1:]))
        z = jax.random.normal(second, (BLOCK, *shape)) if normals else t
        return jax.lax.scan(step, state, (t, u, z))[0], None

    starts = jnp.arange(0.0, STEPS, BLOCK)
    state, _ = jax.lax.scan(block, state, (starts, jax.random.split(key, len(starts))))
    return state


@partial(jax.jit, static_argnums=(1, 2, 3))
def vmapped(key, score, normals, scan):
    means = jnp.array(MEANS)

    def step(state, drawn):
        (n, s), (t, u, z) = state, drawn
        arm = jnp.argmax(score(n, s, t, z))
        return (n.at[arm].add(1.0), s.at[arm].add(u < means[arm])), None

    def run(key):
        n, _ = scan(step, (jnp.zeros(ARMS), jnp.zeros(ARMS)), key, (ARMS,), normals)
        return n

    return jax.vmap(run)(jax.random.split(key, RUNS)).mean(axis=0)


@partial(jax.jit, static_argnums=(1, 2, 3))
def by_hand(key, score, normals, scan):
    means, places = jnp.array(MEANS), jnp.arange(ARMS)[:, None]

    def step(state, drawn):
        (n, s), (t, u, z) = state, drawn
        scores = score(n, s, t, z)
        arm = jnp.where(scores == scores.max(axis=0), places, ARMS).min(axis=0)
        pulled = places == arm
        return (n + pulled, s + pulled * (u < means[arm])), None

    shape = ARMS, RUNS
    n, _ = scan(step, (jnp.zeros(shape), jnp.zeros(shape)), key, shape, normals)
    return n.mean(axis=1)


def play(name, form, score, normals, function, scan):
    times = []
    for repeat in range(REPEATS + 1):
        began = perf_counter()
        pulls = function(jax.random.key(repeat), score, normals, scan).block_until_ready()
        times.append(perf_counter() - began)
    # The first call compiles and does not count.
    say(name, RUNS * STEPS, min(times[1:]), (max(MEANS) - jnp.array(MEANS)) @ pulls, form)


for name, score, normals in (("UCB1", ucb1, False), ("ThompsonGauss", thompson_gauss, True)):
    play(name, "scan and vmap", score, normals, vmapped, one_by_one)
    play(name, "in blocks", score, normals, vmapped, in_blocks)
    play(name, "by hand", score, normals, by_hand, in_blocks)
    with jax.enable_x64(True):
        play(name, "by hand, double", score, normals, by_hand, in_blocks)
