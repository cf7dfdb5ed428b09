"""What must be true of a simulated history: a plain agent repeats it, and a book of sums agrees with it.

The plain agent has one thread, a list as its store, and none of the package's transactions. It makes the
calls of each commit again, in the order of the log, and must write the same events and give the same answers.
A call that wrote nothing must have an answer that the plain agent gives at some moment of the call.
"""

import json
from itertools import chain, combinations

import lowregret as lr
from lowregret.online import calls
from lowregret.online.agent_state import AgentState
from lowregret.online.calls import RETRY
from lowregret.online.decisions import ANSWERS, Decision, Request, decision_number, decision_of
from lowregret.online.event_replay import replay
from lowregret.online.snapshot import write

from .world import MAX_SKEW, NEW_KEY, Process, ViolationError, installed, outcome_of


def audit(simulation):
    """Raise ``ViolationError`` if the history of a simulation broke a promise."""
    world, settings = simulation.world, lr.Agent(**simulation.plan.settings).transactions.state.settings
    with installed(world, {**simulation.plan.constants, "MAX_REMEMBERED": 10**6}):
        simulation.repair()
        if world.commits:
            plain = Plain(world, settings)
            check_answers(world, plain, Book(settings, world.leapt_twice))
            check_agents(simulation, plain)


def check_answers(world, plain, book):
    """Let the plain agent make all commits again, and give the answers of calls that wrote nothing."""
    last = {call: moment for moment, commit in enumerate(world.commits) for call in commit.calls}
    started = sorted((call for call in world.calls if not call.void), key=lambda call: -call.start)
    waiting, withdrawals = [], []
    for moment, commit in enumerate([*world.commits, None]):
        while started and started[-1].start <= moment:
            call = started.pop()
            if call.function == "withdraw":
                withdrawals.append(call)
            if call.outcome and not could_not_be_used(call.outcome):
                waiting.append(call)
        for call in withdrawals if moment else ():
            plain.match(call)
        for call in waiting:
            if moment > last.get(call, 0) and plain.would_answer(call):
                plain.settled.add(call)
            elif call.end <= moment and call not in plain.settled:
                raise ViolationError("the plain agent gives each answer at some moment of the call", call)
        if commit is not None:
            plain.commit(commit)
            for call, time, event in plain.written:
                book.enter(event, call, time)
        waiting = [call for call in waiting if call not in plain.settled]
        withdrawals = [call for call in withdrawals if call not in plain.settled and call.end > moment]
    book.compare(plain.state)


def could_not_be_used(outcome):
    return outcome[0] == "error" and (outcome[1] == "StoreError" or "is closed" in outcome[2])


def check_agents(simulation, plain):
    """Compare the state of an agent that is opened now, of one that is imported, and of those that live."""
    world, process, expected = simulation.world, Process(), write(plain.state, for_store=True)
    process.newer = simulation.upgraded
    try:
        agent = simulation.open(process)
        agent.verify()
    except lr.StoreError as error:
        raise ViolationError("the store opens and verifies at the end", error) from None
    if agent.transactions.store.events(plain.dropped) != plain.history[plain.dropped :]:
        raise ViolationError("the store has the events that were committed")
    compare("a new agent", write(agent.transactions.state, for_store=True), expected)
    imported = lr.Agent.from_json(agent.to_json())
    compare("an imported agent", write(imported.transactions.state, for_store=True), expected)
    agent.close()
    for living in {worker.process for worker in world.workers}:
        if living.agent is None or living.agent.transactions.closed or living.newer < simulation.upgraded:
            continue
        try:
            with living.agent.transactions.reading() as state:
                compare("an agent that lives", write(state, for_store=True), expected)
        except lr.StoreError as error:
            if not simulation.failed_over:
                raise ViolationError("an agent that lives reads the store at the end", error) from None


def compare(what, text, expected):
    if text != expected:
        one, other = json.loads(text), json.loads(expected)
        keys = [key for key in {**one, **other} if one.get(key) != other.get(key) and key != NEW_KEY]
        if keys:
            detail = "; ".join(f"{key}: {one.get(key)}, not {other.get(key)}"[:300] for key in keys)
            raise ViolationError("states follow from the log", f"{what}: {detail}")


class Plain:
    """The plain agent: the functions of ``calls`` on a state, one after the other, and a list of events."""

    def __init__(self, world, settings):
        self.world, self.settings = world, settings
        self.history, self.dropped, self.withdrawn = [], 0, set()
        self.requests, self.decisions = {}, {}  # places of the events that the store can find
        self.made, self.answers = {}, {}  # all there ever was: places, and rewards
        self.in_group = {}  # answers of earlier calls of the session, which are not stored yet
        self.matched, self.settled, self.written = {}, set(), []
        self.moment, self.forgot_at = 0, -1  # the commit, and the last that dropped events or names

    def events_of_request(self, name):
        return [self.history[place] for place in self.requests.get(name, ())]

    def events_of_decision(self, number):
        return [self.history[place] for place in self.decisions.get(number, ())]

    def new_state(self, token):
        state = AgentState(self.settings, token)
        state.assignment.log_all()
        return state

    def attempt(self, call, reading, memory=(), rest=()):
        """Make a call; return the model before it, the outcome, and the events that must be committed.

        Its decisions get the ids of ``rest``, with which the log goes on.
        """
        self.world.next_keys, state = [event.key for event in rest if event.kind == "asked"], self.state
        state.answers.update({key: self.answer(key) for key in memory} | self.in_group)
        before, events = state.save(), []
        state.windows_end = reading[2]
        try:
            result, events = call.function(state, self, reading[0], *call.arguments)
        except lr.LowRegretError as error:
            result = error
        state.answers.clear()
        decisions = [decision_of(event) for event in events if event.kind == "asked"]
        return before, RETRY if result is RETRY else outcome_of(decisions or result), events

    def would_answer(self, call):
        """Return whether the plain agent would now give the answer of a call, and write nothing."""
        if call.function == "withdraw":
            return call.outcome[0] == "error" or call.outcome[1] == len(self.matching(*call.arguments)) == 0
        for memory in self.memories(call):
            before, outcome, events = self.attempt(call, call.reading, memory)
            self.state.restore(before)
            if outcome == call.outcome and not events:
                return True
        return False

    def memories(self, call):
        """Yield the answers that a process may remember, of those that the store has forgotten."""
        keys = map(key_of, call.arguments[0]) if call.function in (calls.tell, calls.forget) else ()
        forgotten = [
            key
            for key in dict.fromkeys(keys)
            if self.answer(key) is not ... and self.made[decision_number(key)] < self.dropped
        ]
        return chain.from_iterable(combinations(forgotten, size) for size in range(len(forgotten) + 1))

    def answer(self, key):
        """Return the reward of a decision by its id, None if it was discarded, or ``...`` if it is open."""
        number = decision_number(key)
        if number not in self.made or decision_of(self.history[self.made[number]]).id != key:
            return ...
        if number in self.answers:
            return self.answers[number]
        return self.settings.default_reward if number <= self.state.matured else ...

    def commit(self, commit):
        """Do again what a session wrote, and compare."""
        self.written = []
        for step, what in commit.steps:
            if step == "create":
                self.state = self.new_state(json.loads(what)["agent"])
            elif step == "append" and what[0].kind == "withdrew":
                self.withdraw(what, commit)
            elif step == "append":
                self.repeat(what, commit)
            elif step == "snapshot":
                self.check_snapshot(what, self.state)
            elif step == "compact":
                self.check_snapshot(what, self.replayed(self.history[: what[0]]))
                self.dropped = what[0]
                for index in (self.requests, self.decisions):
                    index.update({key: [p for p in index[key] if p >= self.dropped] for key in index})
            elif step == "erase":
                for place in self.requests.pop(what, ()):
                    self.history[place] = self.history[place]._replace(request=None)
            if step in ("compact", "erase"):
                self.forgot_at = self.moment
        self.moment += 1

    def repeat(self, events, commit):
        """Make the calls of a session again: they must write its events, and give the same answers."""
        rest = events
        for call, reading in zip(commit.calls, commit.readings, strict=False):
            memory = self.best_memory(call, reading, rest)
            before, outcome, own = self.attempt(call, reading, memory, rest)
            if call.start <= self.forgot_at and not agrees(call, outcome, own):
                own = []  # it looked things up before they were forgotten
            elif own != rest[: len(own)] or not agrees(call, outcome, own):
                detail = f"{call}: {outcome}, {own}; the log goes on with {rest[:2]}"
                raise ViolationError("the plain agent writes the same log and gives the same answers", detail)
            if own:
                self.state.commit(own)
                self.in_group |= self.state.answers
                self.state.answers.clear()
            else:
                self.state.restore(before)
            if outcome is not RETRY:
                self.settled.add(call)
            self.enter(call, reading[1], own)
            rest = rest[len(own) :]
        if rest:
            raise ViolationError(
                "the plain agent writes the same log and gives the same answers", f"nobody wrote {rest}"
            )
        self.index_answers()

    def best_memory(self, call, reading, rest):
        """Return what a process remembered, as the log shows: with it, the call writes the most of it."""
        memories, written = list(self.memories(call)), []
        for memory in memories if len(memories) > 1 else ():
            before, outcome, own = self.attempt(call, reading, memory, rest)
            self.state.restore(before)
            fits = own == rest[: len(own)] and agrees(call, outcome, own)
            written.append(len(own) if fits else -1)
        return memories[written.index(max(written))] if written else ()

    def enter(self, call, time, events):
        """Add events to the log; their requests are known at once, their decisions when they are stored."""
        for event in events:
            self.written.append((call, time, event))
            if event.request is not None:
                self.requests.setdefault(event.request, []).append(len(self.history))
            self.history.append(event)

    def index_answers(self):
        self.in_group, self.world.next_keys = {}, None
        for place, (_, _, event) in enumerate(self.written, len(self.history) - len(self.written)):
            if event.kind in ("asked", *ANSWERS):
                self.decisions.setdefault(event.decision, []).append(place)
            if event.kind == "asked":
                self.made[event.decision] = place
            elif event.kind in ANSWERS:
                self.answers[event.decision] = event.reward

    def replayed(self, history):
        state = self.new_state(self.state.token)
        replay(state, history, self.withdrawn)
        state.answers.clear()
        return state

    def matching(self, since, prefix):
        """Return the decisions that a withdrawal takes out at this moment."""
        asked = [event for event in self.history[self.dropped :] if event.kind == "asked"]
        named = [event for event in asked if (event.request or "").startswith(prefix)]
        forgot = {number for number, reward in self.answers.items() if reward is None}
        return {event.decision for event in named if event.timestamp >= since} - forgot - self.withdrawn

    def match(self, call):
        """Note what a withdrawal would take out at this moment, which is one of the call."""
        now = self.matching(*call.arguments)
        always, sometimes = self.matched.get(call, (now, now))
        self.matched[call] = always & now, sometimes | now

    def withdraw(self, events, commit):
        """Take decisions out: all that matched during the call, and none that never did."""
        call, rule = commit.calls[0], "a withdrawal takes out what matches, and discards what is pending"
        state, (always, sometimes) = self.state, self.matched.get(call, (set(), self.made.keys()))
        numbers = {event.decision for event in events if event.kind == "withdrew"}
        if not always <= numbers <= sometimes:
            raise ViolationError(rule, f"{call}: {numbers}, not {always} to {sometimes}")
        pending = [number for number in state.pending if number in numbers and number not in state.early]
        if [event.decision for event in events if event.kind == "forgot"] != pending:
            raise ViolationError(rule, f"{call}: {events}, not {pending}")
        if call.outcome and call.outcome[0] == "ok" and call.outcome[1] != len(numbers):
            raise ViolationError(rule, f"{call}: not {len(numbers)}")
        self.withdrawn |= numbers
        self.state = self.replayed(self.history)
        self.enter(call, commit.time, events)
        self.index_answers()
        self.settled.add(call)

    def check_snapshot(self, snapshot, state):
        position, text = snapshot
        compare(f"the snapshot at {position}", text.partition("\n")[2], write(state, for_store=True))


def key_of(entry):
    """Return the request or the id that an entry of a list of arguments names."""
    reference = entry if isinstance(entry, str | Decision | Request) else entry[0]
    return reference if isinstance(reference, str) else reference[0]


def agrees(call, outcome, events):
    """Return whether a call was answered so, or may have been."""
    given = call.outcome
    if given is None or outcome is RETRY or given == outcome:
        return True
    if given[:2] != ("error", "StoreError"):
        return False
    return not events or "may have been stored" in given[2] or "damaged" in given[2]


class Book:
    """What the events say by themselves, without code of the package: pulls, sums, and when windows end."""

    def __init__(self, settings, leapt_twice):
        self.settings, self.leapt_twice = settings, leapt_twice
        self.made, self.made_at, self.standing = {}, {}, {}  # "pending", "early", "counted" or "discarded"
        self.rewards, self.conflicts, self.matured = {}, 0, 0

    def require(self, holds, rule, detail):
        if not holds:
            raise ViolationError(rule, detail)

    def enter(self, event, call, time):
        """Enter an event, which was written at a time by the right clock."""
        number, standing = event.decision, self.standing.get(event.decision)
        if event.kind == "asked":
            self.require(number == len(self.made) + 1, "decisions are numbered", event)
            pulls = sum(standing != "discarded" for standing in self.standing.values())
            self.require(event.time == pulls + 1, "time counts the pulls", event)
            self.made[number], self.made_at[number], self.standing[number] = event, time, "pending"
        elif event.kind == "told":
            self.require(standing == "pending", "a decision has one answer", event)
            self.rewards[number] = event.reward
            self.standing[number] = "counted" if self.settings.matures_after is None else "early"
        elif event.kind == "forgot":
            allowed = "discarded" if call.function == "withdraw" else "pending"
            self.require(standing == allowed, "a decision has one answer", event)
            self.standing[number] = "discarded"
        elif event.kind == "withdrew":
            self.standing[number] = "discarded"
        elif event.kind == "matured":
            self.end_windows(event, time)
        self.conflicts += event.kind == "conflict"

    def end_windows(self, event, time):
        last, window = event.decision, self.settings.window
        ended = [n for n in range(1, last + 1) if self.standing[n] in ("pending", "early")]
        self.require(ended and last > self.matured, "windows end in their order", event)
        if isinstance(window, int):
            self.require(last <= len(self.made) - window, "a window ends when it is over", event)
        else:
            length, first = window.total_seconds(), ended[-1]
            self.require(
                self.made[first].timestamp + length <= event.timestamp, "a window ends when it is over", event
            )
            right = self.made_at[first] + length <= time + 2.0 * MAX_SKEW + 1.0 or self.leapt_twice
            self.require(right, "no window ends before its time by the right clock", event)
        self.matured = last
        for number in ended:
            if self.standing[number] == "pending" and event.reward is not None:
                self.rewards[number] = event.reward
            self.standing[number] = "counted" if number in self.rewards else "discarded"

    def compare(self, state):
        """Compare pulls, pending pulls and sums of rewards with a state."""
        rows = {name: state.rows[place] for place, name in enumerate(state.names)}
        rows |= {name: row[0] for name, row in state.hidden.items()}
        low, high = self.settings.reward_range or (0.0, 1.0)
        bounds = (low, high) if self.settings.reward_range else (float("-inf"), float("inf"))
        plain = not self.settings.policy.overrides("transform_reward") and self.settings.period is None
        for arm, row in rows.items():
            numbers = [number for number, made in self.made.items() if made.arm == arm]
            rewards = [self.rewards[number] for number in numbers if self.standing[number] == "counted"]
            pending = sum(self.standing[number] in ("pending", "early") for number in numbers)
            self.require(
                (row["pulls"], row["pending"]) == (len(rewards), pending), "pulls by arm", (arm, row)
            )
            if plain and rewards and not row["forgotten"] and not row["prior"]:
                total = sum(
                    (min(max(reward, bounds[0]), bounds[1]) - low) / (high - low) for reward in rewards
                )
                mine = row["total"] + row["origin"] * len(rewards)
                self.require(abs(mine - total) < 1e-9, "rewards by arm", (arm, row, total))
        counters = (state.asked, state.conflicts, state.matured)
        self.require(counters == (len(self.made), self.conflicts, self.matured), "counters", counters)
