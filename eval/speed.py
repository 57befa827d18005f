"""Speed in decisions a second on one core, beside other engines where they are installed.

`python eval/speed.py --json speed.json`. All rows come from one run on one thread; each is the
median of several rounds that take turns, so that rows compare where the machine's speed drifts.
Everybody makes random legal choices in card play, but for `dmc_train`, which learns, and rows of
other rooms, which play whole deals with all that comes before the play.
"""

import os

# One thread for every library, set before any of them loads.
for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import importlib.util
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import ddz_env
from ddz_env._jit import records
from ddz_env.core import random_games
from ddz_env.errors import DdzError
from ddz_env.rules import PRESETS
from ddz_env.state import STATE
from ddz_env.vector import VecEnv
from eval.cli import check_folder, command_line, guarded, save_json, versions
from eval.leads import measure as measure_leads
from eval.networks import PLAYS, dmc_decision, douzero_network
from eval.processes import starts, two_processes

Round = Callable[[float], float]
"""Plays for about so many seconds; decisions a second."""

NUM_ENVS = 512
"""Games of a batch: many enough to make calls from Python cheap, few enough for the caches."""


@dataclass(frozen=True)
class Command:
    """Measure decisions a second on one core."""

    json: Path | None = None
    """File for the figures."""
    seconds: float = 1.5
    """Length of a round."""
    rounds: int = 5
    """Rounds of each row; the median counts."""
    only: tuple[str, ...] = ()
    """Rows to measure; all unless given."""


def timed(advance: Callable[[], int]) -> Round:
    """A round that calls `advance`, which returns the decisions it made, until time is up."""

    def play(seconds: float) -> float:
        decisions, begin = 0, time.perf_counter()
        while True:
            decisions += advance()
            elapsed = time.perf_counter() - begin
            if elapsed >= seconds:
                return decisions / elapsed

    advance()  # warm: compiled, allocated, past the first deals
    return play


def core_games(room: str = "play_only") -> Round:
    """Whole random deals of a room inside the kernel, calls and all."""
    states = records(STATE, 1)
    params = PRESETS[room].params()
    return timed(lambda: random_games(states, 2000, params))


def batch(features: bool) -> Round:
    """Batch steps from Python, with the legal ids of every row, with or without all features."""
    env = VecEnv(NUM_ENVS, "play_only", seed=1)

    def advance() -> int:
        for _ in range(50):
            if features:
                env.features()
            env.step(env.sample())
        return 50 * NUM_ENVS

    return timed(advance)


def aec() -> Round:
    """The PettingZoo AEC environment: observation, mask and a random legal step."""
    env = ddz_env.env(rules="play_only")
    rng = random.Random(0)
    seeds = iter(range(10**9))

    def advance() -> int:
        env.reset(seed=next(seeds))
        decisions = 0
        for _ in env.agent_iter():
            _, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = info["legal_actions"]
            env.step(int(legal[int(rng.random() * len(legal))]))
            decisions += 1
        return decisions

    return timed(advance)


def parallel() -> Round:
    """The PettingZoo parallel environment: all three agents' observations and masks."""
    env = ddz_env.parallel_env(rules="play_only")
    rng = random.Random(0)
    seeds = iter(range(10**9))

    def advance() -> int:
        _, infos = env.reset(seed=next(seeds))
        decisions = 0
        while env.agents:
            ids = {agent: infos[agent]["legal_actions"] for agent in env.agents}
            choices = {agent: int(i[int(rng.random() * len(i))]) for agent, i in ids.items()}
            _, _, _, _, infos = env.step(choices)
            decisions += 1
        return decisions

    return timed(advance)


def one_seat() -> Round:
    """The Gymnasium environment of one seat against greedy bots; its own decisions count."""
    env = ddz_env.DouDizhuEnv("play_only", seat="random")
    rng = random.Random(0)
    env.reset(seed=1)

    def advance() -> int:
        _, info = env.reset()
        decisions, over = 0, False
        while not over:
            ids = info["legal_actions"]
            _, _, over, _, info = env.step(ids[int(rng.random() * len(ids))])
            decisions += 1
        return decisions

    return timed(advance)


def one_seat_vector() -> Round:
    """The Gymnasium vector environment, 64 games against greedy bots; its own decisions count."""
    envs = ddz_env.SeatVectorEnv(64, "play_only", seat="random")
    rng = np.random.default_rng(0)
    envs.reset(seed=1)

    def advance() -> int:
        for _ in range(20):
            offsets, ids = envs.legal()
            counts = np.maximum(np.diff(offsets), 1)
            places = offsets[:-1] + (rng.random(64) * counts).astype(np.int64)
            envs.step(ids[np.minimum(places, len(ids) - 1)])
        return 20 * 64

    return timed(advance)


def dmc_train() -> Round | None:
    """DMC self-play and learning together, one process, default sizes.

    Evaluation never imports a trainer, so each round runs `train/speed.py`.
    """
    if importlib.util.find_spec("torch") is None:
        return None
    script = Path(__file__).resolve().parent.parent / "train" / "speed.py"

    def play(seconds: float) -> float:
        command = [sys.executable, str(script), "--seconds", str(seconds)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(json.loads(answer.stdout)["decisions_per_second"])

    return play


def decision(make: Callable[[], Callable[[], int] | None]) -> Round | None:
    """Decisions of a network, one at a time; None without torch."""
    advance = make()
    return None if advance is None else timed(advance)


def openspiel(observe: bool) -> Round | None:
    """OpenSpiel's Python loop, with or without its observation tensor."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("dou_dizhu")
    rng = random.Random(0)

    def advance() -> int:
        state, decisions = game.new_initial_state(), 0
        while not state.is_terminal():
            actions = state.legal_actions()
            if not state.is_chance_node():
                decisions += 1
                if observe:
                    state.observation_tensor()
            state.apply_action(actions[int(rng.random() * len(actions))])
        return decisions

    return timed(advance)


def rlcard_env() -> Round | None:
    """RLCard's `env.step`."""
    try:
        import rlcard
    except ImportError:
        return None
    env = rlcard.make("doudizhu", config={"seed": 0})
    rng = random.Random(0)

    def advance() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            actions = list(state["legal_actions"])
            state, _ = env.step(actions[int(rng.random() * len(actions))])
            decisions += 1
        return decisions

    return timed(advance)


ROWS: dict[str, tuple[str, Callable[[], Round | None]]] = {
    "core_games": ("whole games inside the core", core_games),
    "batch_legal": ("batch step, legal lists", lambda: batch(False)),
    "batch_features": ("batch step, lists, features", lambda: batch(True)),
    "aec": ("AEC, observation and mask", aec),
    "parallel": ("parallel, all three see", parallel),
    "one_seat": ("one seat against greedy", one_seat),
    "one_seat_vector": ("64 seats against greedy", one_seat_vector),
    "dmc_train": ("DMC self-play and learning", dmc_train),
    "dmc_decision": (f"DMC decides, {PLAYS} plays", partial(decision, dmc_decision)),
    "douzero_network": (f"DouZero's network, {PLAYS} plays", partial(decision, douzero_network)),
    "openspiel_legal": ("OpenSpiel in Python, rules", lambda: openspiel(False)),
    "openspiel_obs": ("OpenSpiel in Python, floats", lambda: openspiel(True)),
    "rlcard_env": ("RLCard env.step", rlcard_env),
    **{
        f"core_{room}": (f"whole deals of {room}", partial(core_games, room))
        for room in PRESETS
        if room != "play_only"
    },
}


def measure(command: Command, console: Console) -> dict[str, float | None]:
    """Decisions a second of every row, null where the library is not installed."""
    for name in command.only:
        if name not in ROWS:
            raise DdzError(f"--only {name}: expected some of {', '.join(ROWS)}")
    if command.rounds < 1 or command.seconds <= 0:
        raise DdzError("--rounds and --seconds: expected numbers above 0")
    names = [name for name in ROWS if not command.only or name in command.only]
    with Progress(console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("measuring", total=len(names) * (command.rounds + 1))
        rounds = {}
        for name in names:
            rounds[name] = ROWS[name][1]()
            progress.advance(task)
        figures: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(command.rounds):
            for name, play in rounds.items():
                if play is not None:
                    figures[name].append(play(command.seconds))
                progress.advance(task)
    return {name: statistics.median(f) if f else None for name, f in figures.items()}


BASES = {
    "openspiel_legal": "x OpenSpiel",
    "openspiel_obs": "x its floats",
    "rlcard_env": "x RLCard",
}
"""Rows that others are compared with, and how the column is called."""


def _times(ratio: float) -> str:
    """A ratio to three figures."""
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def table(rows: dict[str, float | None]) -> Table:
    """The figures, and each as a multiple of the other engines' loops from Python."""
    title = "decisions/s on one core, random card play"
    grid = Table(title=title, title_justify="left", box=None, pad_edge=False)
    grid.add_column("what", no_wrap=True)
    grid.add_column("decisions/s", justify="right", no_wrap=True)
    for heading in BASES.values():
        grid.add_column(heading, justify="right", no_wrap=True)
    for name, figure in rows.items():
        ratios = []
        for base_name in BASES:
            base = rows.get(base_name)
            ratios.append(_times(figure / base) if figure and base else "")
        grid.add_row(ROWS[name][0], f"{figure:,.0f}" if figure else "not installed", *ratios)
    return grid


def processes_table(gains: dict[str, float], start: dict[str, float | str]) -> Table:
    """What a second process and a fresh start cost."""
    title = "two processes, and import to first step"
    grid = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, min_width=60)
    grid.add_column("what")
    grid.add_column("", justify="right")
    grid.add_row("a counting loop, two processes / one", f"{gains['count_gain']:.2f}")
    grid.add_row("batch step, two processes / one", f"{gains['batch_gain']:.2f}")
    grid.add_row("the second by the first", f"{gains['ratio']:.2f}")
    grid.add_row("import to first step, s", f"{start['warm_s']:.2f}")
    grid.add_row("the same on the core, s", f"{start['warm_cpu_s']:.2f}")
    grid.add_row("import to first step, first time ever, s", f"{start['cold_s']:.1f}")
    grid.add_row("the same on the core, s", f"{start['cold_cpu_s']:.1f}")
    grid.caption = f"the first time it says: {start['cold_says']}"
    return grid


def leads_table(leads: dict[str, float | str]) -> Table:
    """The times to list a landlord's opening lead in `happy_laizi`."""
    title = "microseconds to list an opening lead, happy_laizi"
    grid = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, min_width=60)
    grid.add_column("wild cards")
    grid.add_column("us", justify="right")
    for name, value in leads.items():
        if name.startswith("lead_us_"):
            grid.add_row(name.removeprefix("lead_us_"), f"{value}")
    grid.caption = f"worst: {leads['worst_hand']}, {leads['worst_declarations']} declarations"
    return grid


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 when all went well, 2 for an argument that can't be used."""
    command = tyro.cli(Command, args=arguments)

    def body() -> None:
        console = Console()
        if command.json is not None:
            check_folder(command.json.parent)
        rows = measure(command, console)
        console.print(table(rows))
        leads = {} if command.only else measure_leads(command.rounds)
        processes: dict[str, object] = {}
        if leads:
            console.print(leads_table(leads))
            gains, start = two_processes(command.seconds, command.rounds), starts(3)
            console.print(processes_table(gains, start))
            processes = {"two_processes": gains, "start": start}
        if command.json is not None:
            data = {
                "command": command_line("eval/speed.py", arguments),
                "versions": versions("numpy", "numba", "torch", "open-spiel", "rlcard"),
                "leads": leads,
                **processes,
                "rows": {k: None if v is None else round(v, 1) for k, v in rows.items()},
            }
            save_json(command.json, data)
            console.print(f"figures {command.json}")

    return guarded("speed", body)


if __name__ == "__main__":
    sys.exit(main())
