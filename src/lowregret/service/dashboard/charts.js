// Charts as SVG, drawn for the width of their element; all text is set as text, never as HTML.

const SPACE = "http://www.w3.org/2000/svg";
const MOST_MEANS = 30;
const MOST_POINTS = 24;
export const OTHERS = 7;

function shape(parent, name, attributes, text) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function canvas(element, height, label) {
  const width = Math.max(element.clientWidth, 200);
  const svg = document.createElementNS(SPACE, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return { svg, width };
}

// Shorten the text of an element to a width, in the middle, since names often begin alike; the whole text is
// shown by a mouse that rests on it.
function shorten(made, width) {
  const whole = made.textContent;
  for (let kept = whole.length - 1; kept > 0 && made.getComputedTextLength() > width; kept -= Math.ceil(kept / 20)) {
    made.textContent = `${whole.slice(0, Math.ceil(kept / 3))}…${whole.slice(whole.length - Math.floor(2 * kept / 3))}`;
  }
  if (made.textContent !== whole) shape(made, "title", {}, whole);
}

// Round numbers between two values, two to five of them.
function ticks(least, most) {
  const power = 10 ** Math.floor(Math.log10((most - least) / 4));
  for (const step of [10, 5, 2, 1].map((times) => times * power)) {
    const found = [];
    for (let place = Math.ceil(least / step - 1e-9); place * step <= most + 1e-9 * step; place += 1) found.push(place * step + 0); // no -0
    if (found.length > 2 || step === power) return found;
  }
}

// The rows with the largest shares, in the order of the table.
export function largest(table, count) {
  const order = [...table].sort((one, other) => other.share - one.share).slice(0, count);
  const kept = new Set(order.map((row) => row.arm));
  return table.filter((row) => kept.has(row.arm));
}

// The colour of each arm: the seven with most pulls have their own, all others share the last.
export function colours(table) {
  const own = new Map(largest(table, OTHERS).map((row, number) => [row.arm, number]));
  return new Map(table.map((row) => [row.arm, own.get(row.arm) ?? OTHERS]));
}

// The times, of so many places in time, or null where an agent has no times or all are the same.
function dates(rows) {
  const [first, last] = [rows[0].began, rows.at(-1).ended];
  return first !== null && last !== null && last > first ? { first, last } : null;
}

function day(seconds, span) {
  const moment = new Date(1000 * seconds);
  if (span > 2 * 86400) return moment.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  return moment.toLocaleString(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

// A period as the axis of the shares writes days; others, such as "period 3", stay as they are.
function calendarDay(period) {
  if (!/^\d{4}-\d\d-\d\d$/.test(period)) return period;
  return new Date(`${period}T00:00Z`).toLocaleDateString(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
}

// The periods joined to at most so many with about the same number of decisions.
function joined(periods, bands, colour) {
  const total = periods.reduce((sum, period) => sum + period.all_asked, 0), rows = [];
  let row = null, before = 0;
  for (const { all_asked: all, asked, began, ended } of periods) {
    if (all === 0) continue;
    row ??= { first: before, all: 0, counts: new Array(bands).fill(0), began, ended };
    let others = all; // decisions for arms that are not in the history, because there are many
    for (const [arm, times] of Object.entries(asked)) {
      row.counts[colour.get(arm) ?? bands - 1] += times;
      others -= times;
    }
    row.counts[bands - 1] += others;
    row.all += all;
    row.ended = ended;
    before += all;
    if (row.all >= total / MOST_POINTS) {
      rows.push(row);
      row = null;
    }
  }
  return row === null ? rows : [...rows, row];
}

export function drawShares(element, periods, colour) {
  const height = 220, left = 44, right = 12, top = 8, bottom = 24;
  const { svg, width } = canvas(element, height, "Share of the decisions of each arm over time");
  const bands = Math.max(-1, ...colour.values()) + 1;
  const rows = joined(periods, bands, colour), time = dates(rows);
  const last = rows.at(-1).first + rows.at(-1).all;
  const part = time === null ? ({ first, all }) => (first + all / 2) / last
    : ({ began, ended }) => ((began + ended) / 2 - time.first) / (time.last - time.first);
  const x = (share) => left + (width - left - right) * share;
  const y = (share) => top + (height - top - bottom) * (1 - share);
  for (const share of [0, 0.5, 1])
    shape(svg, "text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`);
  // Each band is drawn through the middle of each row, and level up to the ends.
  const places = [0, ...rows.map(part), 1], ends = [rows[0], ...rows, rows.at(-1)];
  const floor = ({ counts, all }, band) => counts.slice(0, band).reduce((sum, count) => sum + count, 0) / all;
  for (let band = 0; band < bands; band += 1) {
    const edge = (level) => ends.map((row, place) => `${x(places[place]).toFixed(1)},${y(Math.min(floor(row, level), 1)).toFixed(1)}`);
    shape(svg, "polygon", { points: [...edge(band + 1), ...edge(band).reverse()].join(" "), class: `band arm-${band}` });
  }
  const label = (mark) => {
    if (time !== null) return day(time.first + mark * (time.last - time.first), time.last - time.first);
    return mark ? Math.round(mark * last).toLocaleString("en") : "decision 1";
  };
  const marks = width > 420 ? [0, 0.5, 1] : [0, 1];
  for (const [place, mark] of marks.entries()) {
    const text = label(mark);
    if (place > 0 && text === label(marks[place - 1])) continue;
    shape(svg, "text", { x: x(mark), y: height - 6, "text-anchor": { 0: "start", 0.5: "middle", 1: "end" }[mark] }, text);
  }
  element.replaceChildren(svg);
}

export function drawMeans(element, table, colour, write) {
  const known = table.filter((row) => row.mean !== null && row.state !== "retired");
  const rows = largest(known, MOST_MEANS);
  const line = Math.max(26, Math.min(64, 198 / rows.length)), bottom = 22, right = 64;
  const longest = Math.max(...rows.map(({ arm }) => arm.length));
  const left = Math.min(Math.max(130, 20 + 6.5 * longest), Math.max(element.clientWidth, 200) * (element.clientWidth > 420 ? 0.42 : 0.3));
  const height = rows.length * line + bottom;
  const { svg, width } = canvas(element, height, "Mean reward of each arm with its interval");
  const lows = rows.map((row) => row.low ?? row.mean), highs = rows.map((row) => row.high ?? row.mean);
  const least = Math.min(...lows), most = Math.max(...highs, least + 1e-9 * Math.max(Math.abs(least), 1));
  const x = (value) => left + (width - left - right) * ((value - least) / (most - least));
  for (const value of ticks(least, most)) {
    shape(svg, "line", { x1: x(value), x2: x(value), y1: 0, y2: height - bottom, class: "grid" });
    shape(svg, "text", { x: x(value), y: height - 6, "text-anchor": "middle" }, write(value));
  }
  const names = rows.map((row, place) => {
    const y = place * line + line / 2, kind = `arm-${colour.get(row.arm)}`;
    shape(svg, "line", { x1: x(lows[place]), x2: x(highs[place]), y1: y, y2: y, class: `whisker ${kind}` });
    shape(svg, "circle", { cx: x(row.mean), cy: y, r: 5, class: kind });
    shape(svg, "text", { x: width - 2, y: y + 4, "text-anchor": "end", class: "name" }, write(row.mean));
    return shape(svg, "text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "name" }, row.arm);
  });
  const note = document.createElement("p");
  note.className = "quiet";
  if (rows.length < known.length) note.textContent = `${rows.length} of ${known.length} arms: those with the largest shares`;
  element.replaceChildren(svg, ...(note.textContent ? [note] : []));
  for (const name of names) shorten(name, left - 12);
}

// The mean of each period as a dot, and what the means of its arms predict as a line.
export function drawPeriods(element, periods, write) {
  const height = 200, left = 56, right = 8, top = 8, bottom = 22;
  const { svg, width } = canvas(element, height, "Mean reward of each period");
  const values = periods.flatMap(({ mean, expected }) => [mean, expected]);
  const least = Math.min(...values), most = Math.max(...values, least + 1e-9 * Math.max(Math.abs(least), 1));
  const x = (place) => left + 5 + (width - left - right - 10) * (place / (periods.length - 1));
  const y = (value) => top + 5 + (height - top - bottom - 10) * ((most - value) / (most - least));
  for (const value of ticks(least, most)) {
    shape(svg, "line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" });
    shape(svg, "text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, write(value));
  }
  const points = periods.map(({ expected }, place) => `${x(place).toFixed(1)},${y(expected).toFixed(1)}`);
  shape(svg, "polyline", { points: points.join(" "), class: "expected" });
  periods.forEach(({ period, pulls, mean, expected }, place) => {
    const dot = shape(svg, "circle", { cx: x(place), cy: y(mean), r: 4, class: "arm-0" });
    shape(dot, "title", {}, `${period}: ${write(mean)} in ${pulls.toLocaleString("en")} rewards, ${write(expected)} expected`);
  });
  shape(svg, "text", { x: left, y: height - 6 }, calendarDay(periods[0].period));
  shape(svg, "text", { x: width - right, y: height - 6, "text-anchor": "end" }, calendarDay(periods.at(-1).period));
  element.replaceChildren(svg);
}
