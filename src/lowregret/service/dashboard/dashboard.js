// The dashboard: reads the interface of the service every few seconds, and draws what it says.

import { OTHERS, colours, drawMeans, drawPeriods, drawShares, largest } from "./charts.js";
import { ago, date, details, figures, gap, latestShares, lift, ordered, percent, probability, short, stateOf, story,
  unit, whole } from "./words.js";

const EVERY = 2000;
const PAGE = 50;
const MOST_ARMS = 200;
const MOST_EVENTS = 20;
const KEY = "lowregret token";
const CREATE = `curl -X POST ${location.origin}/v1/agents \\
  -H 'Content-Type: application/json' \\
  -d '{"name": "buttons", "policy": "ThompsonBeta", "arms": ["Buy now", "Get yours"]}'`;
const find = (id) => document.getElementById(id);
let token = sessionStorage.getItem(KEY);
let timer = 0;
let latest = null;
let drawn = "";
const rest = new Map(); // what a row of the list shows besides the overview, by the name of the agent
let after = null; // the position before the agents that are listed; null for the latest

class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function call(path, body) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { headers, cache: "no-store" };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  const answer = await fetch(path, options);
  const found = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, found.detail ?? answer.statusText);
  return found;
}

const chosen = () => {
  try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } // such as "#%E0%A4%A"
};
const address = (name, what = "") => `v1/agents/${encodeURIComponent(name)}${what}`;

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// A name that may be long: a few lines of it are shown, and all of it by a mouse that rests on it.
function named(text) {
  const made = element("span", text, "clamp");
  made.title = text;
  return made;
}

// A row of cells: content, kind, and the heading that a narrow window shows beside it.
function row(cells) {
  const made = element("tr");
  for (const [content, kind, label] of cells) {
    const cell = element("td", undefined, kind);
    if (label) cell.dataset.label = label;
    cell.append(kind === "name" && !(content instanceof Node) ? named(content) : content);
    made.append(cell);
  }
  return made;
}

// A bar whose filled part is a share between 0 and 1.
function bar(share) {
  const made = element("span", undefined, "bar");
  made.append(element("i"));
  made.firstChild.style.width = percent(share);
  return made;
}

function say(text) {
  find("message").textContent = text;
  find("message").hidden = !text;
}

function drawAgents({ agents, unavailable, position, total }) {
  const first = position - agents.length - unavailable.length;
  find("agents").hidden = false;
  find("agent").hidden = true;
  const content = JSON.stringify([agents, unavailable, position, total]);
  if (content === drawn) return; // so that nothing moves under a click
  drawn = content;
  find("no-agents").hidden = total > 0;
  find("create").textContent = CREATE;
  document.querySelector("#agents table").hidden = total === 0;
  find("pages").hidden = first === 0 && position === total;
  find("range").textContent = `${whole(first + 1)} to ${whole(position)} of ${whole(total)}`;
  find("earlier").disabled = first === 0;
  find("earlier").onclick = () => turnTo(Math.max(first - PAGE, 0));
  find("later").disabled = position === total;
  find("later").onclick = () => turnTo(position + PAGE >= total ? null : position);
  find("agent-rows").replaceChildren(...agents.map((agent) => {
    const link = element("a", agent.name);
    link.href = `#${encodeURIComponent(agent.name)}`;
    const name = element("div");
    name.append(link, element("small", agent.policy, "quiet"));
    const decisions = element("div", whole(agent.pulls));
    return row([[name, "name"], [element("span", agent.status, `pill ${agent.status === "active" ? "" : "stopped"}`), "", "state"], ["", "name", "leader"],
      [decisions, "", "decisions"], ["", "", "latest decision"], ["", "", "warnings"]]);
  }));
  agents.forEach(drawRest);
}

// Write what is not in the overview of an agent into its row of the list.
function drawRest({ name }, place) {
  const cells = find("agent-rows").rows[place]?.cells, found = rest.get(name);
  if (cells?.[0].querySelector("a").textContent !== name || !found) return;
  const { lead, share, warnings, state: [kind, word], progress, asked, now } = found;
  cells[1].replaceChildren(element("span", word, `pill ${kind}`));
  cells[2].replaceChildren(named(lead ? `${lead} (${percent(share)} now)` : "–"));
  cells[3].querySelector(".bar")?.remove();
  if (progress !== null) cells[3].firstChild.append(bar(Math.min(progress, 1)));
  cells[4].textContent = ago(asked, now);
  cells[5].textContent = warnings.length ? `${whole(warnings.length)} ⚠` : "";
  cells[5].title = warnings.join("\n");
}

// Read the rest of the agents in the list, one agent after another, at most once a minute each.
async function readRest(agents) {
  for (const [place, agent] of agents.entries()) {
    const { name, pulls, status } = agent, earlier = rest.get(name);
    const same = earlier && earlier.pulls === pulls && earlier.status === status;
    if (earlier && (same || Date.now() - earlier.at < 30 * EVERY)) continue;
    if (chosen() || document.hidden) return;
    const parts = ["/summary", "/history", "/verdict"];
    const [summary, history, verdict] = await Promise.all(parts.map((part) => call(address(name, part))));
    const { settings: { horizon } } = summary;
    const warnings = [...summary.notes, ...history.warnings.map((warning) => warning.detail)];
    rest.set(name, { lead: verdict.arm, share: latestShares(history).share(verdict.arm), warnings, status,
      state: stateOf(summary, verdict), progress: horizon === null ? null : pulls / horizon,
      asked: history.last_asked, now: history.now, pulls: history.complete ? pulls : null, at: Date.now() });
    drawRest(agent, place);
  }
}

function turnTo(position) {
  after = position;
  refresh();
}

function drawSettings({ arms, policy, ...settings }) {
  find("settings").replaceChildren(...Object.entries(settings).map(([name, value]) => row([
    [name.replaceAll("_", " ")], [value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value)],
  ])));
}

function drawFigures(summary, history, verdict) {
  const lead = summary.table.find((arm) => arm.arm === verdict.arm);
  find("figures").replaceChildren(...[
    ...figures(summary, history, lead),
    ["latest decision", ago(history.last_asked, history.now), "", "When the latest decision was made, and the latest reward reported."],
  ].map(([name, value, words, hint, share]) => {
    const box = element("div");
    box.title = hint;
    box.append(element("dt", name), element("dd", value), element("dd", words, "quiet"));
    if (share !== undefined) box.append(bar(share));
    return box;
  }));
}

// Write how long ago the latest decision and reward were, which changes while nothing happens.
function drawTimes({ last_asked: asked, last_told: told, now }) {
  const [, value, words] = find("figures").lastChild.children;
  value.textContent = ago(asked, now);
  words.textContent = told === null ? "no reward yet" : `latest reward ${ago(told, now)}`;
}

function drawArms(summary, verdict) {
  const judged = new Map(verdict.arms.map((arm) => [arm.arm, arm]));
  const shown = largest(summary.table, MOST_ARMS);
  const write = unit(summary.settings);
  const note = `${whole(shown.length)} of ${whole(summary.table.length)} arms: those with the largest shares`;
  find("arm-note").textContent = shown.length < summary.table.length ? note : "";
  const hasControl = summary.settings.control !== null;
  document.querySelector("#arms table").classList.toggle("no-lift", !hasControl);
  find("arm-rows").replaceChildren(...shown.map((arm) => {
    const name = element("div");
    name.append(named(arm.arm));
    if (arm.state !== "active") name.append(element("span", arm.state, "tag"));
    const mean = element("span", write(arm.mean));
    if (arm.low !== null) {
      const ends = arm.high === null ? `at least ${write(arm.low)}` : `${write(arm.low)} to ${write(arm.high)}`;
      const interval = element("small", ` (${ends})`, "quiet");
      if (arm.high === null) interval.title = "Could be higher: the rewards so far are too few or too uneven for an upper end";
      mean.append(interval);
    }
    const isSeen = arm.mean !== null, best = isSeen ? judged.get(arm.arm)?.probability_best ?? null : null;
    const toLeader = isSeen ? gap(summary.settings, arm.to_leader_low, arm.to_leader_high) : "–";
    const decisions = element("span", whole(arm.pulls + arm.pending));
    decisions.title = `${whole(arm.pulls)} with a reward`;
    return row([[name, "name"], [percent(arm.share), "number", "share"], [mean, "number", "mean"],
      [arm.arm === verdict.arm ? "leads" : toLeader, "number", "to the leader"],
      [best === null ? "–" : probability(best), "number", "best"],
      [arm.state === "control" ? "–" : lift(judged.get(arm.arm)), "number lift", "lift over the control"],
      [decisions, "number", "decisions"], [retireButton(summary.name, arm), "number"]]);
  }));
}

function retireButton(name, { arm, state }) {
  if (state === "retired" || state === "control") return "";
  const button = element("button", "Retire");
  button.type = "button";
  button.addEventListener("click", () => ask(`Retire the arm “${arm}” of ${name}? That is final.`,
    "Retire the arm", () => change(name, "/arms", { retire: arm })));
  return button;
}

// The latest events; the arm of a decision is known where its own event is among those that were read.
function drawEvents(events) {
  const arms = new Map(events.filter((event) => event.arm !== null).map((event) => [event.decision, event.arm]));
  find("event-rows").replaceChildren(...[...events].reverse().slice(0, MOST_EVENTS).map((event) => row([
    [date(event.timestamp)],
    [event.key?.startsWith("observed") ? "observed" : event.kind], [event.decision === null ? "" : whole(event.decision), "number"],
    [event.arm ?? arms.get(event.decision) ?? "", "name"], [event.reward === null ? "" : short(event.reward), "number"],
  ])));
}

function drawCharts() {
  if (latest === null) return;
  const { summary, history } = latest, colour = colours(summary.table);
  const parts = {
    shares: history.periods.some((period) => period.all_asked > 0),
    means: summary.table.some((arm) => arm.mean !== null && arm.state !== "retired"),
    periods: summary.periods.length > 1,
  };
  for (const [part, isKnown] of Object.entries(parts)) find(`${part}-panel`).hidden = !isKnown;
  if (parts.shares) drawShares(find("shares"), history.periods, colour);
  if (parts.means) drawMeans(find("means"), summary.table, colour, unit(summary.settings));
  if (parts.periods) drawPeriods(find("periods"), summary.periods, unit(summary.settings));
  const shown = summary.table.filter((arm) => colour.get(arm.arm) < OTHERS).map((arm) => [arm.arm, colour.get(arm.arm)]);
  if (shown.length < summary.table.length) shown.push(["all others", OTHERS]);
  find("legend").replaceChildren(...shown.map(([name, number]) => {
    const item = element("li");
    item.append(named(name));
    item.prepend(element("i", undefined, `arm-${number}`));
    return item;
  }));
}

function drawAgent(summary, history, verdict, events) {
  find("agents").hidden = true;
  find("agent").hidden = false;
  const content = JSON.stringify([summary, { ...history, now: 0 }, verdict, events]);
  if (content === drawn) return drawTimes(history); // so that nothing moves under a click
  drawn = content;
  summary.table = ordered(summary);
  latest = { summary, history };
  const [kind, word] = stateOf(summary, verdict), [lead, more] = story(summary, verdict);
  find("agent-name").textContent = summary.name;
  find("agent-policy").textContent = summary.policy;
  find("agent-status").textContent = word;
  find("agent-status").className = `pill ${kind}`;
  find("agent").className = kind;
  find("pause").textContent = summary.status === "paused" ? "Resume" : "Pause";
  find("pause").hidden = summary.status === "retired";
  find("warnings").replaceChildren(
    ...[...summary.notes, ...history.warnings.map((warning) => warning.detail)].map((detail) => element("li", detail)));
  find("export").href = address(summary.name, "/export");
  find("export").download = `${summary.name}.csv`;
  drawSettings(summary.settings);
  drawFigures(summary, history, verdict);
  drawTimes(history);
  find("details").replaceChildren(...details(summary, history, verdict).map(([name, value, hint]) => {
    const made = row([[name], [value]]);
    made.title = hint;
    return made;
  }));
  find("verdict").replaceChildren(element("b", lead), more);
  drawArms(summary, verdict);
  drawEvents(events);
  drawCharts();
}

async function refresh() {
  clearTimeout(timer);
  const name = chosen();
  let problems = "";
  try {
    if (name) {
      const parts = ["/summary", "/history", "/verdict", ...(find("events").open ? ["/events?limit=200"] : [])];
      const [summary, history, verdict, log] = await Promise.all(parts.map((part) => call(address(name, part))));
      history.shadow = history.counts.observed ? await call(address(name, "/shadow")).catch(() => null) : null;
      if (name === chosen()) drawAgent(summary, history, verdict, log?.events ?? []);
    } else {
      if (latest !== null) drawn = "";
      latest = null;
      const found = await call(`v1/agents?limit=${PAGE}${after === null ? "" : `&after=${after}`}`);
      if (!chosen()) drawAgents(found);
      await readRest(found.agents);
      problems = found.unavailable.map(({ name, detail }) => `${name}: ${detail}`).join("; ");
    }
    say(problems);
    find("updated").textContent = `updated ${new Date().toLocaleTimeString()}`;
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return signIn(error.message);
    say(error instanceof Refused ? error.message : "the service does not answer: trying again");
  }
  timer = setTimeout(refresh, document.hidden ? 5 * EVERY : EVERY);
}

function signIn(reason) {
  clearTimeout(timer);
  sessionStorage.removeItem(KEY);
  token = null;
  for (const part of ["agents", "agent", "sign-out"]) find(part).hidden = true;
  find("sign-in").hidden = false;
  find("updated").textContent = "";
  say(reason);
}

// Change something, and show it; a refusal is shown until the next change.
async function change(name, what, body) {
  try {
    await call(address(name, what), body);
    await refresh();
  } catch (error) {
    clearTimeout(timer);
    say(error instanceof Refused ? error.message : "the service does not answer: nothing was changed");
    timer = setTimeout(refresh, 5 * EVERY);
  }
}

function ask(text, answer, act) {
  const question = find("question");
  find("question-text").textContent = text;
  find("question-yes").textContent = answer;
  question.returnValue = "no";
  question.onclose = () => {
    if (question.returnValue === "yes") act();
  };
  question.showModal();
}

// A link cannot send the token, so the file is read first.
find("export").addEventListener("click", async (event) => {
  const { href, download } = find("export");
  if (!token) return;
  event.preventDefault();
  const answer = await fetch(href, { headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) return say((await answer.json()).detail);
  const link = element("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = download;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), EVERY);
});
find("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  token = find("token").value.trim();
  find("token").value = "";
  sessionStorage.setItem(KEY, token);
  find("sign-in").hidden = true;
  find("sign-out").hidden = false;
  refresh();
});
find("sign-out").addEventListener("click", () => signIn(""));
find("add-arm").addEventListener("submit", (event) => {
  event.preventDefault();
  const arm = find("new-arm").value;
  find("new-arm").value = "";
  change(chosen(), "/arms", { add: arm });
});
find("pause").addEventListener("click", () => {
  const name = chosen();
  if (find("pause").textContent === "Resume") change(name, "/status", { status: "active" });
  else {
    ask(`Pause ${name}? It refuses new decisions until it is resumed.`, "Pause the agent",
      () => change(name, "/status", { status: "paused" }));
  }
});
find("events").addEventListener("toggle", refresh);
addEventListener("hashchange", refresh);
addEventListener("resize", drawCharts);
document.addEventListener("visibilitychange", () => { if (!document.hidden && find("sign-in").hidden) refresh(); });

const { tokens } = await call("health");
find("sign-out").hidden = !token;
if (tokens && !token) signIn("");
else refresh();
