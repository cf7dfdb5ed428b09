// Charts as SVG, drawn for the width of their element; all text is set as text, never as HTML.

const SPACE = "http://www.w3.org/2000/svg";
const MOST_MEANS = 30;
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

function empty(element, text) {
  const { svg, width } = canvas(element, 60, text);
  shape(svg, "text", { x: width / 2, y: 34, "text-anchor": "middle" }, text);
  element.replaceChildren(svg);
}

// Shorten the text of an element to a width; the whole text is shown by a mouse that rests on it.
function shorten(made, width) {
  const whole = made.textContent;
  for (let kept = whole.length - 1; kept > 0 && made.getComputedTextLength() > width; kept -= Math.ceil(kept / 20)) {
    made.textContent = `${whole.slice(0, kept)}…`;
  }
  if (made.textContent !== whole) shape(made, "title", {}, whole);
}

// Round numbers between two values, two to five of them.
function ticks(least, most) {
  const rough = (most - least) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough * (1 - 1e-9));
  const found = [];
  for (let place = Math.ceil(least / step - 1e-9); place * step <= most + 1e-9 * step; place += 1) found.push(place * step + 0); // no -0
  return found;
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

export function drawShares(element, periods, colour) {
  const height = 200, left = 40, right = 8, top = 8, bottom = 22;
  const { svg, width } = canvas(element, height, "Share of the decisions of each arm over time");
  const bands = Math.max(-1, ...colour.values()) + 1;
  const rows = [];
  let before = 0;
  for (const period of periods) {
    const total = period.all_asked;
    if (total === 0) continue;
    const shares = new Array(bands).fill(0);
    let rest = total; // of arms that are not in the history, because there are many
    for (const [arm, times] of Object.entries(period.asked)) {
      shares[colour.get(arm) ?? bands - 1] += times / total;
      rest -= times;
    }
    shares[bands - 1] += rest / total;
    rows.push({ first: before, last: before + total, shares });
    before += total;
  }
  if (before === 0) return empty(element, "no decisions yet");
  const x = (decision) => left + (width - left - right) * (decision / before);
  const y = (share) => top + (height - top - bottom) * (1 - share);
  for (const share of [0, 0.5, 1]) {
    shape(svg, "line", { x1: left, x2: width - right, y1: y(share), y2: y(share), class: "grid" });
    shape(svg, "text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`);
  }
  for (let band = 0; band < bands; band += 1) {
    const upper = [], lower = [];
    for (const { first, last, shares } of rows) {
      const floor = shares.slice(0, band).reduce((sum, share) => sum + share, 0);
      for (const end of [first, last]) {
        lower.push(`${x(end).toFixed(1)},${y(floor).toFixed(1)}`);
        upper.push(`${x(end).toFixed(1)},${y(Math.min(floor + shares[band], 1)).toFixed(1)}`);
      }
    }
    if (upper.length) shape(svg, "polygon", { points: [...upper, ...lower.reverse()].join(" "), class: `band arm-${band}` });
  }
  shape(svg, "text", { x: left, y: height - 6 }, "decision 1");
  shape(svg, "text", { x: width - right, y: height - 6, "text-anchor": "end" }, before.toLocaleString("en"));
  element.replaceChildren(svg);
}

export function drawMeans(element, table, colour, write) {
  const known = table.filter((row) => row.mean !== null && row.state !== "retired");
  if (known.length === 0) return empty(element, "no rewards yet");
  const rows = largest(known, MOST_MEANS);
  const line = 26, left = Math.min(130, Math.max(element.clientWidth, 200) * 0.3), right = 24, bottom = 22;
  const height = Math.max(rows.length, 2) * line + bottom;
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
  if (periods.length < 2) return empty(element, "fewer than two periods yet");
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
  shape(svg, "text", { x: left, y: height - 6 }, periods[0].period);
  shape(svg, "text", { x: width - right, y: height - 6, "text-anchor": "end" }, periods.at(-1).period);
  element.replaceChildren(svg);
}
