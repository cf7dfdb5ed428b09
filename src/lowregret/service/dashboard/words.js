// Numbers as text, and what the page says of an agent: its state, one sentence, and its figures.

const LIKELY = 0.8; // from this probability on the leader "leads"
const LARGEST_LIFT = 1; // a lift whose interval is wider than this on one side says nothing yet

export const whole = (value) => value.toLocaleString("en");
export const short = (value) => {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) >= 1000 ? whole(Math.round(value)) : String(Number(value.toPrecision(4)));
};
const rounded = (value) => (value !== null && Math.abs(value) < 1000 ? String(Number(value.toPrecision(3))) : short(value));
export const percent = (value) => `${(100 * value).toFixed(1)}%`;
const signed = (value, write) => `${value < 0 ? "−" : "+"}${write(Math.abs(value))}`;
const points = (value) => (100 * value).toFixed(1);

export function probability(value) {
  if (value < 0.001) return "<0.1%";
  return value < 1 && value >= 0.9995 ? ">99.9%" : percent(value);
}

export function date(seconds) {
  return seconds === null ? "–" : new Date(1000 * seconds).toLocaleString();
}

export function ago(seconds, now) {
  if (seconds === null) return "never";
  const passed = Math.max(now - seconds, 0);
  const units = [[86400, "day", "days"], [3600, "hour", "hours"], [60, "minute", "minutes"]];
  const [size, one, many] = units.find(([length]) => passed >= length) ?? [];
  if (!size) return "just now";
  const number = Math.floor(passed / size);
  return `${number} ${number === 1 ? one : many} ago`;
}

const isRate = ({ reward_range: range }) => range !== null && range[0] === 0 && range[1] === 1;

// How means of an agent are written: as percentages if its rewards are between 0 and 1.
export function unit(settings) {
  return (value) => (value === null || !isRate(settings) ? rounded(value) : percent(value));
}

// How differences of means are written: in percentage points if means are percentages. An end as wide as the
// range of the rewards says nothing.
export function gap(settings, low, high) {
  const range = settings.reward_range, width = range === null ? Infinity : 0.9995 * (range[1] - range[0]);
  const write = (end) => signed(end, isRate(settings) ? points : rounded), what = isRate(settings) ? " points" : "";
  const isLow = low !== null && low > -width, isHigh = high !== null && high < width;
  if (!isLow && !isHigh) return "–";
  if (!isLow) return `at most ${write(high)}${what}`;
  return isHigh ? `${write(low)} to ${write(high)}${what}` : `at least ${write(low)}${what}`;
}

// What rewards are called: conversions if each is 0 or 1, as far as their sums tell.
export function thing({ settings }, { periods }) {
  const sums = periods.flatMap(({ rewards }) => Object.values(rewards));
  return isRate(settings) && sums.every(Number.isInteger) ? "conversions" : "in reward";
}

export function lift({ lift: value = null, lift_low: low = null, lift_high: high = null } = {}) {
  if (value === null) return "–";
  if (low === null || high === null || Math.max(-low, high) > LARGEST_LIFT) return "too early";
  return `${signed(value, percent)} (${signed(low, percent)} to ${signed(high, percent)})`;
}

// The rows in the order of the settings; arms that were added later come last.
export function ordered({ settings, table }) {
  const place = new Map(settings.arms.map((arm, number) => [arm, number]));
  return [...table].sort((one, other) => (place.get(one.arm) ?? Infinity) - (place.get(other.arm) ?? Infinity)
    || table.indexOf(one) - table.indexOf(other));
}

// The state of an agent: its name, which the style sheet colours, and the words for it.
export function stateOf({ status }, verdict) {
  if (status !== "active") return status === "paused" ? ["stopped", "paused"] : ["stopped", "stopped"];
  if (verdict.claim === "best" || verdict.claim === "within") return ["proven", "proven"];
  const own = verdict.arms.find(({ arm }) => arm === verdict.arm)?.probability_best ?? null;
  if (verdict.claim !== "not yet" || verdict.arm === null || verdict.sentence.endsWith("no reward"))
    return ["learning", "learning"];
  const leads = own === null ? verdict.more_decisions !== null : own >= LIKELY;
  return leads ? ["leading", "leading"] : ["learning", "learning"];
}

// One sentence in two parts: the arm that leads, and the rest.
export function story(summary, verdict) {
  const { arm, claim, sentence } = verdict, write = unit(summary.settings);
  const rows = summary.table.filter((row) => row.state !== "retired" && row.mean !== null);
  const own = rows.find((row) => row.arm === arm);
  const others = rows.filter((row) => row !== own).sort((one, other) => other.mean - one.mean);
  const rival = others.find((row) => row.state === "control") ?? others[0];
  const plain = ["", `${sentence[0].toUpperCase()}${sentence.slice(1)}.`];
  if (own === undefined || rival === undefined) return plain;
  const name = rival.state === "control" ? `${rival.arm} (control)` : rival.arm;
  const means = `${write(own.mean)} against ${write(rival.mean)} for ${name}`;
  if (claim === "best" || claim === "within")
    return sentence.startsWith(`${arm} is `) ? [arm, `${sentence.slice(arm.length)}: ${means}.`] : plain;
  const begin = `not yet: ${arm} leads, `;
  if (!sentence.startsWith(begin)) return plain;
  const chance = verdict.arms.find((row) => row.arm === arm)?.probability_best ?? null;
  const likely = chance === null ? "It is not proven" : `It is the best with probability ${probability(chance)}, not proven`;
  const more = summary.status === "active" ? ` yet: ${sentence.slice(begin.length).replace(/^but /, "")}` : "";
  return [arm, ` leads: ${means}. ${likely}${more}.`];
}

// What the decisions earned more than with equal shares: an estimate from the means so far.
export function overEqualShares({ table }) {
  const known = table.filter((row) => row.mean !== null);
  if (known.length < 2) return null;
  const mean = known.reduce((sum, row) => sum + row.mean, 0) / known.length;
  return known.reduce((sum, row) => sum + row.pulls * (row.mean - mean), 0);
}

// The shares of the arms among the latest decisions, a hundred of them or more if there are so many.
export function latestShares({ periods }) {
  const asked = new Map();
  let total = 0;
  for (const period of [...periods].reverse()) {
    if (total >= 100) break;
    total += period.all_asked;
    for (const [arm, times] of Object.entries(period.asked)) asked.set(arm, (asked.get(arm) ?? 0) + times);
  }
  return { total, share: (arm) => (total ? (asked.get(arm) ?? 0) / total : 0) };
}

const amount = (value) => signed(value, (size) => (size >= 100 ? whole(Math.round(size)) : short(Number(size.toFixed(1)))));

// The four figures on top: name, value, words under it, a hint, and the filled part of a bar.
export function figures(summary, history, lead) {
  const { gain_over_control: gain, settings: { horizon } } = summary, { shadow } = history;
  const what = thing(summary, history), latest = latestShares(history);
  const equal = overEqualShares(summary);
  const found = [["decisions", whole(summary.pulls),
    horizon === null ? "" : `${percent(summary.pulls / horizon)} of the horizon of ${whole(horizon)}`,
    "Decisions made, without those that were discarded or have expired.",
    horizon === null ? undefined : Math.min(summary.pulls / horizon, 1)]];
  if (shadow) {
    found.push(["agrees with what was done", percent(shadow.agreed / shadow.observed), `of ${whole(shadow.observed)} decisions`,
      "How often the agent would have chosen the arm that others chose."]);
    found.push(["would have earned", short(shadow.would_have_earned), `${short(shadow.low)} to ${short(shadow.high)}; others earned ${short(shadow.earned)}`,
      "The mean reward of the agent's own choices, with a 95% interval, and of what others chose."]);
  } else {
    if (lead) found.push(["leader", lead.arm, `${percent(latest.share(lead.arm))} of the latest ${whole(latest.total)} decisions`,
      "The arm with the largest mean, and its share of the latest decisions."]);
    if (gain !== null) found.push(["gained over the control", `${amount(gain.estimate)} ${what}`, `95% interval ${amount(gain.low)} to ${amount(gain.high)}`,
      "What the policy earned more than the control arm would have, with an interval of about 95% for all times."]);
    else if (equal !== null && Math.abs(equal) >= 0.05) found.push(["gained over equal shares", `${amount(equal)} ${what}`, "an estimate from the means so far",
      "What the decisions earned more than if every arm had had the same share; it tends to be too large."]);
  }
  return found;
}

// Everything else about an agent, without zeros: name, value and a hint.
export function details(summary, history, verdict) {
  const { loss, settings } = summary, { counts, periods } = history, what = thing(summary, history);
  const numbers = [
    ["rewards reported", counts.told, "Rewards that were reported since the log begins."],
    [`counted as ${settings.default_reward}`, settings.default_reward === null ? 0 : counts.defaulted,
      "Decisions whose window ended without a reward."],
    ["pending", summary.pending, "Decisions whose reward has not been reported and may still come."],
    ["expired or discarded", counts.expired + counts.forgot, "Decisions that count for no arm."],
    ["conflicts", summary.conflicts, "Rewards that were rejected since they contradict an earlier one."],
  ].filter(([, number]) => number > 0).map(([name, number, hint]) => [name, whole(number), hint]);
  const estimates = [
    ["lost against the best arm", loss.against_best, what, "What the best mean would have earned more; an estimate that tends to be too large."],
    ["regret at most (95%)", loss.regret_bound, what, "An upper bound that holds at all times with probability 95%, while the means and the arms stay the same."],
    ["expected loss if stopped now", verdict.expected_loss, `${what} a decision`,
      `What a decision loses if the leader is chosen from now on, under the posterior; prior: ${verdict.prior}.`],
  ].filter(([, value]) => value !== null).map(([name, value, words, hint]) => [name, `${short(Number(value.toPrecision(3)))} ${words}`, hint]);
  const times = [
    ["first decision", periods[0].began, "The first decision of the log."],
    ["last decision", history.last_asked, "When the latest decision was made."],
    ["last reward", history.last_told, "When the latest reward was reported."],
  ].filter(([, time]) => time !== null).map(([name, time, hint]) => [name, date(time), hint]);
  return [...numbers, ...estimates, ...times];
}
