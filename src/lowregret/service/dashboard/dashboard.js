// The dashboard: reads the interface of the service every few seconds, and draws what it says.

import { OTHERS, colours, drawMeans, drawShares, largest } from "./charts.js";

const EVERY = 2000;
const PAGE = 50;
const MOST_ARMS = 200;
const KEY = "lowregret token";
const find = (id) => document.getElementById(id);
let token = sessionStorage.getItem(KEY);
let timer = 0;
let latest = null;
let drawn = "";
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

const chosen = () => decodeURIComponent(location.hash.slice(1));
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
const percent = (value) => `${(100 * value).toFixed(1)}%`;

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
    return row([[link, "name"], [agent.status], [whole(agent.pulls), "number"], [whole(agent.pending), "number"],
      [whole(agent.conflicts), "number"], [whole(agent.arms), "number"], [agent.policy]]);
  }));
}

function turnTo(position) {
  after = position;
  refresh();
}

function figures(summary, history) {
  const { loss } = summary, { counts } = history;
  return [
    ["decisions", whole(counts.asked)],
    ["rewards", whole(counts.told)],
    ["pending", whole(summary.pending)],
    ["expired or discarded", whole(counts.expired + counts.forgot)],
    ["conflicts", whole(summary.conflicts)],
    ["lost against the best arm", short(loss.against_best)],
    ["regret at most (95%)", short(loss.regret_bound)],
    ["gained over an equal split", short(loss.against_equal_split === null ? null : -loss.against_equal_split)],
  ];
}

function drawArms(summary) {
  const shown = largest(summary.table, MOST_ARMS);
  const note = `${whole(shown.length)} of ${whole(summary.table.length)} arms: those with the largest shares`;
  find("arm-note").textContent = shown.length < summary.table.length ? note : "";
  find("arm-rows").replaceChildren(...shown.map((arm) => {
    const retire = element("button", "Retire");
    retire.type = "button";
    retire.disabled = arm.state === "retired" || arm.state === "control";
    retire.addEventListener("click", () => askToRetire(summary.name, arm.arm));
    const interval = arm.low === null ? "–" : `${short(arm.low)} to ${short(arm.high)}`;
    return row([[arm.arm, "name"], [arm.state], [percent(arm.share), "number"], [short(arm.mean), "number"],
      [interval, "number"], [whole(arm.pulls), "number"], [whole(arm.pending), "number"], [retire, "number"]]);
  }));
}

function drawEvents(events) {
  find("event-rows").replaceChildren(...[...events].reverse().map((event) => row([
    [whole(event.position), "number"],
    [event.timestamp === null ? "–" : new Date(1000 * event.timestamp).toLocaleTimeString()],
    [event.kind], [event.decision === null ? "" : whole(event.decision), "number"],
    [event.arm ?? "", "name"], [event.reward === null ? "" : short(event.reward), "number"],
  ])));
}

function drawCharts() {
  if (latest === null) return;
  const { summary, history } = latest, colour = colours(summary.table);
  drawShares(find("shares"), history.periods, colour);
  drawMeans(find("means"), summary.table, colour);
  const shown = summary.table.filter((arm) => colour.get(arm.arm) < OTHERS).map((arm) => [arm.arm, colour.get(arm.arm)]);
  if (shown.length < summary.table.length) shown.push(["all others", OTHERS]);
  find("legend").replaceChildren(...shown.map(([name, number]) => {
    const item = element("li");
    item.append(named(name));
    item.prepend(element("i", undefined, `arm-${number}`));
    return item;
  }));
}

function drawAgent(summary, history, events) {
  find("agents").hidden = true;
  find("agent").hidden = false;
  const content = JSON.stringify([summary, { ...history, now: 0 }, events]);
  if (content === drawn) return; // so that nothing moves under a click
  drawn = content;
  latest = { summary, history };
  find("agent-name").textContent = summary.name;
  find("agent-policy").textContent = summary.policy;
  find("agent-status").textContent = summary.status;
  find("agent-status").className = `pill ${summary.status}`;
  find("pause").textContent = summary.status === "paused" ? "Resume" : "Pause";
  find("pause").disabled = summary.status === "retired";
  find("warnings").replaceChildren(...history.warnings.map((warning) => element("li", warning.detail)));
  find("figures").replaceChildren(...figures(summary, history).map(([name, value]) => {
    const box = element("div");
    box.append(element("dt", name), element("dd", value));
    return box;
  }));
  drawArms(summary);
  drawEvents(events.events);
  drawCharts();
}

async function refresh() {
  clearTimeout(timer);
  const name = chosen();
  let problems = "";
  try {
    if (name) {
      const [summary, history, events] = await Promise.all([
        call(address(name, "/summary")), call(address(name, "/history")), call(address(name, "/events?limit=20")),
      ]);
      if (name === chosen()) drawAgent(summary, history, events);
    } else {
      if (latest !== null) drawn = "";
      latest = null;
      const found = await call(`v1/agents?limit=${PAGE}${after === null ? "" : `&after=${after}`}`);
      if (!chosen()) drawAgents(found);
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

function askToRetire(name, arm) {
  const question = find("question");
  find("question-text").textContent = `Retire the arm “${arm}” of ${name}? That is final.`;
  question.returnValue = "no";
  question.onclose = () => {
    if (question.returnValue === "yes") change(name, "/arms", { retire: arm });
  };
  question.showModal();
}

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
  const status = find("agent-status").textContent === "paused" ? "active" : "paused";
  change(chosen(), "/status", { status });
});
addEventListener("hashchange", refresh);
addEventListener("resize", drawCharts);
document.addEventListener("visibilitychange", () => { if (!document.hidden && find("sign-in").hidden) refresh(); });

const { tokens } = await call("health");
find("sign-out").hidden = !token;
if (tokens && !token) signIn("");
else refresh();
