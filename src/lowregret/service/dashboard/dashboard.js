// The dashboard: reads the interface of the service every few seconds, and draws what it says.

import { OTHERS, colours, drawMeans, drawPeriods, drawShares, largest } from "./charts.js";

const EVERY = 2000;
const PAGE = 50;
const MOST_ARMS = 200;
const KEY = "lowregret token";
const find = (id) => document.getElementById(id);
let token = sessionStorage.getItem(KEY);
let timer = 0;
let latest = null;
let drawn = "";
const details = new Map(); // the leader and the warnings of agents by name
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

function row(cells) {
  const made = element("tr");
  for (const [content, kind] of cells) {
    const cell = element("td", undefined, kind);
    cell.append(kind === "name" && !(content instanceof Node) ? named(content) : content);
    made.append(cell);
  }
  return made;
}

const whole = (value) => value.toLocaleString("en");
const short = (value) => {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) >= 1000 ? whole(Math.round(value)) : String(Number(value.toPrecision(4)));
};
const percent = (value) => `${Number((100 * value).toPrecision(3))}%`;
const span = (low, high, write) =>
  (low === null && high === null ? "–" : `${low === null ? "?" : write(low)} to ${high === null ? "?" : write(high)}`);
const date = (seconds) => (seconds === null ? "–" : new Date(1000 * seconds).toLocaleString());

// How means of an agent are written: as percentages if its rewards are between 0 and 1.
function unit({ reward_range: range }) {
  const rates = range !== null && range[0] === 0 && range[1] === 1;
  return (value) => (value === null || !rates ? short(value) : percent(value));
}

// The arm with the largest share among those that the policy may choose.
const leader = (table) => largest(table.filter((arm) => arm.state === "active"), 1)[0];

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
  find("pages").hidden = first === 0 && position === total;
  find("range").textContent = `${whole(first + 1)} to ${whole(position)} of ${whole(total)}`;
  find("earlier").disabled = first === 0;
  find("earlier").onclick = () => turnTo(Math.max(first - PAGE, 0));
  find("later").disabled = position === total;
  find("later").onclick = () => turnTo(position + PAGE >= total ? null : position);
  find("agent-rows").replaceChildren(...agents.map((agent) => {
    const link = element("a", agent.name);
    link.href = `#${encodeURIComponent(agent.name)}`;
    return row([[link, "name"], [""], [agent.status], ["", "name"],
      [whole(agent.pulls), "number"], [whole(agent.pending), "number"], [whole(agent.conflicts), "number"],
      [whole(agent.arms), "number"], [agent.policy]]);
  }));
  agents.forEach(drawDetails);
}

// Write the leader and the warnings of an agent into its row of the list.
function drawDetails({ name }, place) {
  const cells = find("agent-rows").rows[place]?.cells, { lead, warnings } = details.get(name) ?? {};
  if (cells?.[0].textContent !== name || !warnings) return;
  cells[3].replaceChildren(named(lead ? `${lead.arm} (${percent(lead.share)})` : ""));
  cells[1].textContent = warnings.length ? `${whole(warnings.length)} ⚠` : "";
  cells[1].title = warnings.join("\n");
}

// Read the leaders and warnings of the agents in the list, one agent after another, at most once a minute each.
async function readDetails(agents) {
  for (const [place, agent] of agents.entries()) {
    const { name, pulls } = agent, earlier = details.get(name);
    if (earlier && (earlier.pulls === pulls || Date.now() - earlier.at < 30 * EVERY)) continue;
    if (chosen() || document.hidden) return;
    const [summary, history] = await Promise.all([call(address(name, "/summary")), call(address(name, "/history"))]);
    const warnings = [...summary.notes, ...history.warnings.map((warning) => warning.detail)];
    details.set(name, { lead: leader(summary.table), warnings, pulls: history.complete ? pulls : null, at: Date.now() });
    drawDetails(agent, place);
  }
}

function turnTo(position) {
  after = position;
  refresh();
}

// The figures of an agent: name, value, and a hint.
function figures(summary, history, verdict) {
  const { loss, gain_over_control: gain, settings } = summary, { counts, periods } = history;
  const lead = leader(summary.table), { horizon } = settings;
  return [
    ["decisions", whole(summary.pulls), "Decisions made, without those that were discarded or have expired."],
    ...(horizon === null ? [] : [["horizon", `${percent(summary.pulls / horizon)} of ${whole(horizon)}`,
      "The share of the planned decisions that were made."]]),
    ["rewards reported", whole(counts.told), "Rewards that were reported since the log begins."],
    ...(settings.default_reward === null ? [] : [["counted as default", whole(counts.defaulted),
      `Decisions whose window ended without a reward: they count as ${settings.default_reward}.`]]),
    ["pending", whole(summary.pending), "Decisions whose reward has not been reported and may still come."],
    ["expired or discarded", whole(counts.expired + counts.forgot), "Decisions that count for no arm."],
    ["conflicts", whole(summary.conflicts), "Rewards that were rejected since they contradict an earlier one."],
    ...(history.shadow ? [["agrees with what was done", `${percent(history.shadow.agreed / history.shadow.observed)} of ${whole(history.shadow.observed)}`,
      "How often the agent would have chosen the arm that others chose."], ["would have earned", `${short(history.shadow.would_have_earned)} (${short(history.shadow.low)} to ${short(history.shadow.high)})`,
      `The mean reward of the agent's own choices, with a 95% interval; what others chose earned ${short(history.shadow.earned)}.`]] : []),
    ["leader", lead ? lead.arm : "–", "The active arm with the largest share of the decisions."],
    ...(gain === null ? [] : [["gained over the control", `${short(gain.estimate)} (${short(gain.low)} to ${short(gain.high)})`,
      "What the policy earned more than the control arm would have, with an interval of about 95% for all times."]]),
    ["lost against the best arm", short(loss.against_best),
      "What the best mean would have earned more; an estimate that tends to be too large."],
    ["regret at most (95%)", short(loss.regret_bound), "An upper bound that holds at all times with probability 95%, while the means and the arms stay the same."],
    ["expected loss if stopped now", short(verdict.expected_loss),
      `What a decision loses if the leader is chosen from now on, under the posterior; prior: ${verdict.prior}.`],
    ["first decision", date(periods[0].began), "The first decision of the log."],
    ["last decision", date(history.last_asked), "When the latest decision was made."],
    ["last reward", date(history.last_told), "When the latest reward was reported."],
  ];
}

function drawSettings({ arms, policy, ...settings }) {
  find("settings").replaceChildren(...Object.entries(settings).map(([name, value]) => row([
    [name.replaceAll("_", " ")], [value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value)],
  ])));
}

function drawArms(summary, verdict) {
  const judged = new Map(verdict.arms.map((arm) => [arm.arm, arm]));
  const shown = largest(summary.table, MOST_ARMS);
  const write = unit(summary.settings);
  const note = `${whole(shown.length)} of ${whole(summary.table.length)} arms: those with the largest shares`;
  find("arm-note").textContent = shown.length < summary.table.length ? note : "";
  find("arm-rows").replaceChildren(...shown.map((arm) => {
    const retire = element("button", "Retire");
    retire.type = "button";
    retire.disabled = arm.state === "retired" || arm.state === "control";
    retire.addEventListener("click", () => ask(`Retire the arm “${arm.arm}” of ${summary.name}? That is final.`,
      "Retire the arm", () => change(summary.name, "/arms", { retire: arm.arm })));
    const interval = arm.low === null ? "–" : `${write(arm.low)} to ${write(arm.high)}`;
    const { probability_best: best = null, lift = null, lift_low: least, lift_high: most } = judged.get(arm.arm) ?? {};
    const behind = span(arm.to_leader_low, arm.to_leader_high, write);
    return row([[arm.arm, "name"], [arm.state], [percent(arm.share), "number"], [write(arm.mean), "number"],
      [interval, "number"], [behind, "number"], [best === null ? "–" : percent(best), "number"],
      [lift === null ? "–" : `${percent(lift)} (${span(least, most, percent)})`, "number"], [whole(arm.pulls + arm.pending), "number"], [whole(arm.pulls), "number"], [retire, "number"]]);
  }));
}

function drawEvents(events) {
  find("event-rows").replaceChildren(...[...events].reverse().map((event) => row([
    [whole(event.position), "number"],
    [date(event.timestamp)],
    [event.key?.startsWith("observed") ? "observed" : event.kind], [event.decision === null ? "" : whole(event.decision), "number"],
    [event.arm ?? "", "name"], [event.reward === null ? "" : short(event.reward), "number"],
  ])));
}

function drawCharts() {
  if (latest === null) return;
  const { summary, history } = latest, colour = colours(summary.table);
  drawShares(find("shares"), history.periods, colour);
  drawMeans(find("means"), summary.table, colour, unit(summary.settings));
  drawPeriods(find("periods"), summary.periods, unit(summary.settings));
  const shown = summary.table.filter((arm) => colour.get(arm.arm) < OTHERS).map((arm) => [arm.arm, colour.get(arm.arm)]);
  if (shown.length < summary.table.length) shown.push(["all others", OTHERS]);
  find("legend").replaceChildren(...shown.map(([name, number]) => {
    const item = element("li");
    item.append(named(name));
    item.prepend(element("i", undefined, `arm-${number}`));
    return item;
  }));
}

function drawAgent(summary, history, events, verdict) {
  find("agents").hidden = true;
  find("agent").hidden = false;
  const content = JSON.stringify([summary, { ...history, now: 0 }, events, verdict]);
  if (content === drawn) return; // so that nothing moves under a click
  drawn = content;
  latest = { summary, history };
  find("agent-name").textContent = summary.name;
  find("agent-policy").textContent = summary.policy;
  find("agent-status").textContent = summary.status;
  find("agent-status").className = `pill ${summary.status}`;
  find("pause").textContent = summary.status === "paused" ? "Resume" : "Pause";
  find("pause").disabled = summary.status === "retired";
  find("warnings").replaceChildren(
    ...[...summary.notes, ...history.warnings.map((warning) => warning.detail)].map((detail) => element("li", detail)));
  find("export").href = address(summary.name, "/export");
  find("export").download = `${summary.name}.csv`;
  drawSettings(summary.settings);
  find("figures").replaceChildren(...figures(summary, history, verdict).map(([name, value, hint]) => {
    const box = element("div");
    box.title = hint;
    box.append(element("dt", name), element("dd", value));
    return box;
  }));
  find("verdict").textContent = verdict.sentence;
  drawArms(summary, verdict);
  drawEvents(events.events);
  drawCharts();
}

async function refresh() {
  clearTimeout(timer);
  const name = chosen();
  let problems = "";
  try {
    if (name) {
      const parts = ["/summary", "/history", "/events?limit=20", "/verdict"];
      const answers = await Promise.all(parts.map((part) => call(address(name, part))));
      answers[1].shadow = answers[1].counts.observed ? await call(address(name, "/shadow")).catch(() => null) : null;
      if (name === chosen()) drawAgent(...answers);
    } else {
      if (latest !== null) drawn = "";
      latest = null;
      const found = await call(`v1/agents?limit=${PAGE}${after === null ? "" : `&after=${after}`}`);
      if (!chosen()) drawAgents(found);
      await readDetails(found.agents);
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
  if (find("agent-status").textContent === "paused") change(name, "/status", { status: "active" });
  else {
    ask(`Pause ${name}? It refuses new decisions until it is resumed.`, "Pause the agent",
      () => change(name, "/status", { status: "paused" }));
  }
});
addEventListener("hashchange", refresh);
addEventListener("resize", drawCharts);
document.addEventListener("visibilitychange", () => { if (!document.hidden && find("sign-in").hidden) refresh(); });

const { tokens } = await call("health");
find("sign-out").hidden = !token;
if (tokens && !token) signIn("");
else refresh();
