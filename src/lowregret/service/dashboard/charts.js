// Charts as SVG, drawn for the width of their element; all text is set as text, never as HTML.

const SPACE = "http://www.w3.org/2000/svg";
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

// The colour of each arm: the seven with most pulls have their own, all others share the last.
export function colours(table) {
  const order = [...table].sort((one, other) => other.share - one.share).slice(0, OTHERS).map((row) => row.arm);
  const kept = table.filter((row) => order.includes(row.arm)).map((row) => row.arm);
  return new Map(table.map((row) => [row.arm, kept.includes(row.arm) ? kept.indexOf(row.arm) : OTHERS]));
}

export function drawShares(element, periods, colour) {
  const height = 200, left = 40, right = 8, top = 8, bottom = 22;
  const { svg, width } = canvas(element, height, "Share of the decisions of each arm over time");
  const bands = Math.max(-1, ...colour.values()) + 1;
  const rows = [];
  let before = 0;
  for (const period of periods) {
    const total = Object.values(period.asked).reduce((sum, times) => sum + times, 0);
    if (total === 0) continue;
    const shares = new Array(bands).fill(0);
    for (const [arm, times] of Object.entries(period.asked)) shares[colour.get(arm) ?? bands - 1] += times / total;
    rows.push({ first: before, last: before + total, shares });
    before += total;
  }
  const x = (decision) => left + (width - left - right) * (decision / Math.max(before, 1));
  const y = (share) => top + (height - top - bottom) * (1 - share);
  for (const share of [0, 0.5, 1]) {
    shape(svg, "line", { x1: left, x2: width - right, y1: y(share), y2: y(share), class: "grid" });
    shape(svg, "text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`);
  }
  if (rows.length === 0) {
    shape(svg, "text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "no decisions yet");
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

export function drawMeans(element, table, colour) {
  const rows = table.filter((row) => row.mean !== null && row.state !== "retired").slice(0, 30);
  const line = 26, left = Math.min(130, Math.max(element.clientWidth, 200) * 0.3), right = 14, bottom = 22;
  const height = Math.max(rows.length, 2) * line + bottom;
  const { svg, width } = canvas(element, height, "Mean reward of each arm with its interval");
  const lows = rows.map((row) => row.low ?? row.mean), highs = rows.map((row) => row.high ?? row.mean);
  const least = Math.min(...lows), most = Math.max(...highs);
  const spread = most > least ? most - least : 1;
  const x = (value) => left + (width - left - right) * ((value - least) / spread);
  if (rows.length === 0) {
    shape(svg, "text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "no rewards yet");
  } else {
    for (const value of [least, least + spread / 2, least + spread]) {
      shape(svg, "line", { x1: x(value), x2: x(value), y1: 0, y2: height - bottom, class: "grid" });
      const anchor = value === least ? "start" : value > least + spread * 0.6 ? "end" : "middle";
      shape(svg, "text", { x: x(value), y: height - 6, "text-anchor": anchor }, value.toPrecision(3));
    }
  }
  rows.forEach((row, place) => {
    const y = place * line + line / 2, kind = `arm-${colour.get(row.arm)}`;
    const name = row.arm.length > left / 8 ? `${row.arm.slice(0, Math.floor(left / 8) - 1)}…` : row.arm;
    shape(svg, "text", { x: left - 10, y: y + 4, "text-anchor": "end", class: "name" }, name);
    shape(svg, "line", { x1: x(lows[place]), x2: x(highs[place]), y1: y, y2: y, class: `whisker ${kind}` });
    shape(svg, "circle", { cx: x(row.mean), cy: y, r: 5, class: kind });
  });
  element.replaceChildren(svg);
}
