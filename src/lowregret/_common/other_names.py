"""What other libraries call things, and what to use here, for the errors that name it.

A table gives, by what to use here, the names that people try, without underscores and in lower case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from inspect import currentframe
from typing import TypeVar

T = TypeVar("T")

MODULE = {
    "lr.UCB1": "ucb ucbi ucbalpha ucb1policy",
    "lr.UCBTuned": "ucb1tuned",
    "lr.KLUCB": "klucb1 klucbpolicy",
    "lr.BayesUCBBeta for rewards 0 and 1, lr.BayesUCBGauss for others": "bayesucb",
    "lr.ThompsonBeta for rewards 0 and 1, lr.ThompsonNormal for others": (
        "thompsonsampling thompson ts betats thompsonpolicy"
    ),
    "lr.EpsilonGreedy": "epsilongreedy epsgreedy egreedy greedy epsilongreedypolicy",
    "lr.RoundRobin": "uniformrandom uniformpolicy randompolicy",
    "lr.TsallisINF": "softmax boltzmann exp3plusplus",
    "lr.bernoulli([0.1, 0.2])": "bernoullibandit bernoulliarm bernoullimab bandits environment env",
    "lr.gaussian(means, variances)": "gaussianbandit gaussianarm normal",
    "lr.Agent to choose, lr.Bandit to simulate": "mab multiarmedbandit",
    "lr.open_agent to keep decisions in a file, lr.Agent in memory": "open study createstudy createagent",
    "lowregret agent list FILE, on the command line": "listagents agents",
    "lowregret serve FILE, on the command line": "serve server service dashboard",
    "lr.simulate": "evaluator environmentmab simulator simulation sim run evaluate benchmark play train",
    "lr.Experiment.from_toml(path).run()": "runexperiment loadexperiment experiments",
    "lr.plan, which has the fixed split": "power poweranalysis samplesize abtest",
    "lr.replay, which has IPS, SNIPS and DR": "ips snips dr offpolicy ope",
    "lr.open_results": "load loadresults readresults read",
    "lr.Results, which lr.simulate returns": "result",
    "the method of a result, as in result.plot()": "plot compare summary report plots viz regret",
    "dir(lr.policies)": "listpolicies allpolicies availablepolicies",
    "dir(lr.environments)": "listenvironments allenvironments",
    "the argument of a call, as in lr.simulate(..., seed=1)": "seed setseed randomstate",
    "lowregret compile, on the command line": "compile precompile warmup",
    "lr.__version__": "version",
    "another package: adversarial and contextual bandits are not here": "exp3 exp4 linucb lints",
}
RESULTS = {
    "result.summary()": (
        "mean means meanregret averageregret std stats statistics describe table summarytable df "
        "dataframe results head "
        "score scores tolatex tomarkdown print frame toframe topolars"
    ),
    "result.summary().write_csv('summary.csv')": "tocsv writecsv export",
    "result.summary().write_excel('summary.xlsx')": "toexcel",
    "result.summary().write_parquet('summary.parquet'), or result.save(folder) for all": "toparquet",
    "result.to_pandas()": "todf todataframe topd",
    "result.to_dict()": "tojson",
    "result['UCB1'].regret, an array with a row per run": (
        "tonumpy toxarray array finalregret regrets values get"
    ),
    "result.curves()": "history curve cumulativeregret trajectory learningcurve",
    "result.plot()": (
        "show figure fig plots plotregret plotcurves plotcurve savefig draw visualize boxplot hist"
    ),
    "list(result), the names of the policies": "names columns algorithms",
    "dict(result)": "items asdict",
    "len(result), and result.runs": "shape size",
    "result.runs": "nruns numruns repetitions nrepetitions",
    "result.compare()": "ttest test pvalue pvalues significance wilcoxon",
    "result.summary(all=True), which has the intervals": "ci confidenceinterval intervals",
    "result.summary().sort('mean')": (
        "sort sortvalues best bestpolicy winner ranking rank leaderboard bestparams"
    ),
    "result.pulls": "actions choices armcounts counts armspulled",
    "record_rewards=True, and then result['UCB1'].rewards": "rewards reward totalreward",
    "lr.trace for the steps of one run": "trace steps trials",
    "result.with_labels({'UCB1': 'UCB (ours)'})": "rename setlabels labels relabel",
    "lr.open_results(folder)": "load read",
    "copy.copy(result)": "copy clone",
}
RUNS = {
    "outcome.grid, the times of the columns of outcome.regret": "t times time steps x",
    "outcome.regret.mean(axis=0)": "mean means meanregret curve average cumulativeregret y",
    "outcome.regret.std(axis=0)": "std sd se sem",
    "outcome.regret[:, -1]": "final finals finalregret last total",
    "outcome.regret": "regrets values array tonumpy data paths",
    "len(outcome.regret)": "runs nruns size",
    "outcome.pulls": "actions counts arms choices",
    "result.to_pandas('paths')": "topandas todf todataframe tocsv summary",
    "result.plot()": "plot show figure fig plotregret savefig",
    "result.horizon": "horizon",
    "record_rewards=True in the simulation, and then outcome.rewards": "reward",
}
BANDIT = {
    "bandit.means": "mean probabilities probs p ps expectedrewards rates truemeans",
    "len(bandit)": "narms k numberofarms numarms size actionspace nactions",
    "bandit.best, the number of the best arm": "bestarm optimalarm bestaction argmax",
    "bandit.means.max()": "max bestmean maxmean mustar",
    "bandit.sample(arm, n)": "pull draw step reward rewards getreward rvs play random",
    "lr.simulate(policies, bandit, horizon)": "run simulate regret reset evaluate plot",
    "bandit.scaled(low, high)": "scale normalize rescale",
    "bandit.variances": "variance var std sd",
}
POLICY = {
    "lr.Agent(policy, ['A', 'B']) and its ask()": (
        "choose choice selectarm select pull predict act play getaction choosearm"
    ),
    "lr.Agent(policy, ['A', 'B']) and its tell(decision, reward)": (
        "update learn partialfit fit getreward reward"
    ),
    "lr.simulate(policy, bandit, horizon)": "run simulate evaluate reset startgame",
    "str(policy)": "name label",
    "the parameters themselves, as in policy.alpha; dataclasses.asdict(policy) has all": (
        "params parameters getparams hyperparameters config"
    ),
    "a new policy: policies do not change": "setparams copy clone",
}
AGENT = {
    "agent.ask()": (
        "choose choice selectarm select pull predict act pick decide next suggest sample draw play "
        "step get getarm "
        "getaction choosearm getchoice assign"
    ),
    "agent.ask(n=10)": "askmany askbatch batch asks",
    "agent.tell(decision, reward)": (
        "update partialfit fit learn train reward record feedback report success fail log "
        "observereward convert track"
    ),
    "agent.tell_many(pairs)": "tellall tellbatch updatemany",
    "agent.verdict()": (
        "bestarm winner best leader recommend isbest significant significance pvalue confidence "
        "bestparams bestvalue "
        "probabilities result done finished"
    ),
    "agent.summary()": (
        "means mean counts pulls npulls stats statistics intervals results report describe table "
        "shares weights traffic "
        "values scores state info tocsv topandas df"
    ),
    "agent.events()": "history log decisions trials export",
    "agent.plot()": "show figure savefig",
    "print(agent)": "print display",
    "json.loads(agent.to_json())['made_with']": "horizon seed settings config params parameters",
    "agent.add_arm(arm)": "add addoption addarms addaction addvariant",
    "agent.retire_arm(arm)": "remove removearm deletearm removeoption droparm disablearm",
    "agent.retire()": "stop end finish delete terminate",
    "agent.forget(decision)": "undo cancel",
    "len(agent.arms)": "narms numarms k",
    "agent.arms": "options actions variants choices",
    "lr.open_agent(path, policy, arms), which stores every decision": "save load dump reset commit flush",
    "lowregret serve FILE, on the command line": "dashboard url run",
}
DECISION = {
    "decision.arm": "name action choice value option variant index armid label",
    "decision.id": "decisionid key uuid",
    "decision.propensity": "probability prob p weight score",
    "agent.tell(decision, reward)": "tell reward update observe",
    "decision._asdict()": "todict asdict json tojson",
}
VERDICT = {
    "verdict.arm, the leader": "best winner leader bestarm",
    "verdict.claim, which is 'best' where the leader is proved": (
        "decided proven proved done significant status"
    ),
    "verdict.arms, which has the probability of each arm": (
        "probability probabilities probabilitybest confidence"
    ),
    "verdict.error, for any number of looks": "pvalue alpha significance",
    "verdict.sentence": "text message reason summary",
}
EXPERIMENT = {
    "experiment.run()": "simulate start fit execute results result go",
    "lr.Experiment.from_toml(path)": "load fromfile read fromyaml open",
    "experiment.run(out=folder), which stores the settings too": "save totoml dump export write",
    "experiment.runs": "nruns repetitions",
}
TRACE = {
    "trace.arm": "arms actions choices action pulls history",
    "trace.reward": "rewards",
    "lr.simulate(policy, bandit, horizon), whose results have it": "regret plot mean summary",
}
CHARTS = {
    "chart.save('chart.svg')": "savefig tosvg topdf write export toimage savechart",
    "result.plot(ax=ax), which draws into axes of matplotlib": (
        "axes gca setxscale setyscale legend setxlabel setylabel"
    ),
}
ARGUMENTS = {
    "runs": "nruns numruns nbruns nsimulations repetitions nrepetitions nrepeats nreps trials ntrials",
    "horizon": "T nsteps steps nrounds rounds timesteps ntimesteps timehorizon niter iterations",
    "seed": "randomstate randomseed rng",
    "threads": "njobs numworkers workers nthreads numthreads processes ncores cores",
    "policies": "policy algorithm algorithms algos agents players strategies learners models",
    "bandit": "environment env mab problem testbed arms",
    "environments": "environment env bandit bandits problems",
    "arms": "actions options choices variants narms k",
    "policy": "learningpolicy algorithm strategy model",
    "progress": "verbose",
    "engine": "device backend gpu",
    "minimum_share": "epsilon exploration minshare",
    "matures_after": "window delay wait attributionwindow",
    "control": "baseline default",
    "probabilities": "p ps probs probas means rates mu",
    "baseline": "reference control against",
    "ax": "axes axis",
    "title": "name suptitle",
    "width": "figsize size",
    "band": "ci confidence errorbars std intervals",
    "folder": "path out output filename file",
    "request": "user userid visitor visit session id key requestid",
    "n": "size count batch number",
    "only": "exclude subset allowed",
}
"""Arguments as other libraries call them, by our names."""
ELSEWHERE = {
    "result.plot(labels=...) or result.with_labels(...)": "labels",
    "result.plot(ax=ax) and ax.set_xscale('log'), or the page of result.report(folder)": (
        "log logx logy xscale yscale logscale"
    ),
    "chart.save('chart.svg') afterwards": "save savefig filename fname",
    "the variances, squares of these": "std stds sd sigma sigmas scale",
    "one agent per group of visitors, or Vowpal Wabbit or MABWiser: contextual bandits are not here": (
        "context contexts features"
    ),
}
"""Arguments that belong to another call, by what to use instead."""


def ours(name: str, table: Mapping[str, str]) -> str:
    """Return what to use for a name of another library, "" where the table has none."""
    plain = "".join(filter(str.isalnum, name)).lower()
    return next((use for use, names in table.items() if plain in names.lower().split()), "")


def missing(owner: str, name: str, known: Iterable[str], table: Mapping[str, str]) -> str:
    """Return the message for an attribute that does not exist: what to use instead, or one like it."""
    advice = "" if name.startswith("_") else _advice(name, known, table)
    return f"{owner} has no attribute {name!r}{advice and ': ' + advice}"


def _advice(name: str, known: Iterable[str], table: Mapping[str, str]) -> str:
    if use := ours(name, table):
        return f"use {use}"
    lower = {one.lower().replace("_", ""): one for one in known if not one.startswith("_")}
    near = get_close_matches(name.lower().replace("_", ""), lower, n=1, cutoff=0.8)
    return f"did you mean {lower[near[0]]!r}?" if near else ""


def answers(owner: str, table: Mapping[str, str]) -> Callable[[type[T]], type[T]]:
    """Let a class answer attributes that it lacks: with ours, where a table has the name, or one like it."""

    def decorate(kind: type[T]) -> type[T]:
        inherited = getattr(kind, "__getattr__", None)  # of pydantic, altair

        def answer(self: T, name: str) -> object:
            try:
                if inherited is not None:
                    return inherited(self, name)
            except AttributeError:
                pass
            known = () if name.startswith("_") else dir(self)  # which asks for __dict__ itself
            # Without the object, since Python would add a guess of its own to the message.
            raise AttributeError(missing(owner, name, known, table), name=name, obj=None)

        kind.__getattr__ = answer  # type: ignore[attr-defined]
        return kind

    return decorate


def missing_from_module(module: str, name: str, known: Iterable[str]) -> Exception:
    """Return the error for a name that a module lacks.

    Python hides the message of an AttributeError from ``from module import name``, but not an ImportError.
    """
    message = missing(f"module {module!r}", name, known, MODULE)
    caller = currentframe()
    while caller and caller.f_globals.get("__name__", "").startswith("lowregret"):
        caller = caller.f_back
    importing = caller is not None and caller.f_code.co_name == "_handle_fromlist"
    if importing and ": " in message and find_spec(f"{module}.{name}") is None:
        return ImportError(message)
    return AttributeError(message, name=name, obj=None)
