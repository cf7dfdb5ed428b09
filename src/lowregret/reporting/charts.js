"use strict";
// Draws the pictures again as charts that fit the window and answer to the pointer.
(async () => {
  const packed = document.getElementById("packed");
  if (!packed || typeof DecompressionStream === "undefined") return;
  const bytes = Uint8Array.from(atob(packed.textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { library, charts, datasets, policies } = JSON.parse(await new Response(stream).text());
  const script = document.createElement("script");
  script.textContent = library;
  document.head.append(script);

  const NARROW = 500; // pixels; a narrower chart names its lines under the plot
  const ROW = 46; // the height of a row whose name stands above its marks
  const COLUMN = 15; // the least width of a column of cells
  const MAX_IN_TOOLTIP = 12;
  const live = new Map();
  let chosen = [...document.querySelectorAll("#policies [aria-pressed=true]")].map((chip) => chip.dataset.policy);
  const tip = document.body.appendChild(document.createElement("div"));
  tip.id = "tip";
  tip.hidden = true;

  function swatch(policy) {
    const chip = document.querySelector(`#policies button[data-policy=${CSS.escape(policy)}] .swatch`);
    return chip.cloneNode(true);
  }

  // The same for a line that may stand for several policies of the page.
  function sample([color, ...dash]) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    const line = svg.appendChild(document.createElementNS(space, "line"));
    for (const [name, value] of Object.entries({ class: "swatch", width: 26, height: 8, "aria-hidden": true }))
      svg.setAttribute(name, value);
    const look = { x2: 26, y1: 4, y2: 4, stroke: color, "stroke-width": 3 };
    if (dash.join() !== "1,0") look["stroke-dasharray"] = dash.join(" ");
    for (const [name, value] of Object.entries(look)) line.setAttribute(name, value);
    return svg;
  }

  // Under a narrow chart: the names of the lines in color, in the order of their ends.
  function name(figure) {
    const { view, lines, named } = live.get(figure);
    let list = figure.querySelector(".names");
    if (!named) return list?.remove();
    if (!list) {
      list = Object.assign(document.createElement("ul"), { className: "names" });
      figure.querySelector(".chart").after(list);
    }
    const all = Object.keys(lines), picked = all.filter((line) => chosen.includes(line));
    const focus = picked.length ? picked : all.filter((line) => view.signal("focus").includes(line));
    list.replaceChildren(...focus.map((line) => {
      const item = document.createElement("li");
      item.append(sample(lines[line]), line);
      item.addEventListener("click", () => tell("choose-policy", line));
      return item;
    }));
  }

  // The first entry of a tooltip is its heading; the others are rows, of many policies only those in focus.
  function hover(handler, event, item, value) {
    tip.hidden = !value;
    if (!value) return;
    const [[title, heading], ...entries] = Object.entries(value);
    const rows = entries.filter(([, text]) => text !== undefined && text !== "undefined");
    const view = live.get(event.target.closest("figure"))?.view;
    const focus = new Set(chosen.length || !view ? chosen : view.signal("focus"));
    const many = rows.filter(([name]) => name in policies).length > MAX_IN_TOOLTIP;
    const table = document.createElement("table");
    let left = 0;
    for (const [name, text] of rows) {
      const known = Object.hasOwn(policies, name);
      const faded = known && focus.size > 0 && !focus.has(name);
      if (faded && many) {
        left += 1;
        continue;
      }
      const row = table.insertRow();
      if (faded) row.className = "off";
      const cell = row.insertCell();
      cell.className = "word";
      if (known) cell.append(swatch(name));
      cell.append(name);
      row.insertCell().append(text);
    }
    const top = document.createElement("b");
    if (Object.hasOwn(policies, heading)) top.append(swatch(heading), heading);
    else top.append(`${title} ${heading}`);
    const rest = document.createElement("p");
    if (left) rest.textContent = `${left} more in gray`;
    tip.replaceChildren(top, table, ...(left ? [rest] : []));
    const box = tip.getBoundingClientRect();
    const beside = event.clientX + 18 + box.width < innerWidth ? event.clientX + 18 : event.clientX - 18 - box.width;
    tip.style.left = `${Math.max(4, beside)}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4))}px`;
  }

  // In a narrow chart of rows the name of a policy stands above its marks, with the verdict beside it.
  function stack(spec, count) {
    const rows = spec.layer.find((layer) => layer.name === "rows");
    spec.height = ROW * count;
    for (const layer of spec.layer) if (layer.encoding.y) layer.encoding.y.axis = null;
    const mark = { type: "text", align: "left", baseline: "middle", dy: -15, fontSize: 13, color: "#222222" };
    const encoding = { x: { value: 0 }, y: rows.encoding.y, opacity: rows.encoding.opacity };
    const names = { data: rows.data, mark, encoding: { ...encoding, text: { field: "policy", type: "nominal" } } };
    const verdicts = spec.layer.filter((layer) => layer.name === "verdicts");
    for (const layer of verdicts) {
      Object.assign(layer.mark, { align: "right", dy: -15, fontSize: 12 });
      layer.encoding.x = { value: { expr: "width" } };
    }
    const texts = [names, ...verdicts];
    const halos = structuredClone(texts); // keep the lines of the grid out of the text
    for (const halo of halos) {
      delete halo.name;
      Object.assign(halo.mark, { stroke: "white", strokeWidth: 4 });
    }
    spec.layer = [...spec.layer.filter((layer) => !verdicts.includes(layer)), ...halos, ...texts];
  }

  // A title of an axis in two lines where one is too long for it.
  function wrapped(title, room) {
    if (typeof title !== "string" || title.length * 6.4 <= room) return title;
    const spaces = [...title.matchAll(/ /g)].map(({ index }) => index);
    const middle = spaces.sort((a, b) => Math.abs(a - title.length / 2) - Math.abs(b - title.length / 2))[0];
    return middle === undefined ? title : [title.slice(0, middle), title.slice(middle + 1)];
  }

  // Whether a chart has lines with names, not rows.
  const isNamed = ({ spec, lines }) =>
    Object.keys(lines).length > 0 && !spec.layer.some((layer) => layer.name === "rows");

  function fitted(original, room) {
    const spec = structuredClone(original.spec);
    spec.datasets = Object.fromEntries(original.data.map((name) => [name, datasets[name]]));
    delete spec.title;
    spec.background = null; // that of the page
    spec.padding = { left: 4, right: 6, top: 10, bottom: 4 };
    spec.width = Math.max(120, room - (original.width - spec.width));
    if (room >= NARROW) return spec;
    if (spec.layer.some((layer) => layer.name === "rows")) stack(spec, Object.keys(original.lines).length);
    spec.layer = spec.layer.filter((layer) => !layer.name?.startsWith("labels-"));
    spec.width = room - 60;
    spec.height = Math.min(spec.height, Math.round(0.8 * room));
    spec.config.axis = { ...spec.config.axis, labelFontSize: 12, titleFontSize: 13, titlePadding: 6 };
    spec.config.legend = { ...spec.config.legend, disable: isNamed(original) };
    if (original.columns) {
      spec.width = Math.max(room - 150, COLUMN * original.columns); // the figure scrolls where that is too wide
      const { color } = spec.layer[0].encoding;
      color.legend = { ...color.legend, orient: "bottom", direction: "horizontal" };
    }
    for (const { encoding: { x, y } } of spec.layer) {
      if (x?.title) x.title = wrapped(x.title, spec.width);
      if (y?.title) y.title = wrapped(y.title, spec.height);
    }
    return spec;
  }

  // Marks beside the plot do not count when Vega fits a chart, so the width is corrected once all is drawn.
  async function fit(figure, view) {
    const room = figure.clientWidth;
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const drawn = figure.querySelector(".chart svg").width.baseVal.value;
      if (Math.abs(room - drawn) < 1) break;
      await view.width(Math.max(100, view.width() + room - drawn)).runAsync();
    }
  }

  async function draw(figure) {
    const place = figure.querySelector(".chart");
    const room = figure.clientWidth;
    const choice = charts[figure.dataset.chart][figure.dataset.view || 0];
    live.get(figure)?.finalize();
    const options = { mode: "vega-lite", actions: false, renderer: "svg", tooltip: hover };
    const { view, finalize } = await vegaEmbed(place, fitted(choice, room), options);
    view.addEventListener("click", (event, item) => tell("choose-policy", item?.datum?.policy));
    view.addEventListener("mouseover", (event, item) => {
      if (item?.mark.marktype === "text" && item.datum?.policy) tell("hover-policy", item.datum.policy);
    });
    view.addEventListener("mouseout", (event, item) => {
      if (item?.mark.marktype === "text" && item.datum?.policy) tell("hover-policy", "");
    });
    await view.signal("chosen", chosen).runAsync();
    place.classList.toggle("scrolls", room < NARROW && Boolean(choice.columns));
    if (!place.matches(".scrolls")) await fit(figure, view);
    place.classList.add("live");
    live.set(figure, { view, finalize, room, lines: choice.lines, named: room < NARROW && isNamed(choice) });
    name(figure);
  }
  function tell(name, policy) {
    if (policy !== undefined) document.dispatchEvent(new CustomEvent(name, { detail: policy }));
  }
  function signal(name, value) {
    for (const { view } of live.values()) view?.signal(name, value).runAsync();
  }
  document.addEventListener("policies", (event) => {
    chosen = event.detail;
    signal("chosen", chosen);
    for (const [figure, { view }] of live) if (view) name(figure);
  });
  document.addEventListener("hover-policy", (event) => signal("hovered", event.detail));

  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting && !live.has(target)) {
        live.set(target, { finalize() {}, room: 0 });
        draw(target);
      }
  }, { rootMargin: "400px" });
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    watcher.observe(figure);
    const buttons = [...figure.querySelectorAll(".views button")];
    for (const [number, button] of buttons.entries())
      button.addEventListener("click", () => {
        figure.dataset.view = number;
        for (const each of buttons) each.setAttribute("aria-pressed", each === button);
        draw(figure);
      });
  }

  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const [figure, { room }] of live) if (room && Math.abs(room - figure.clientWidth) > 4) draw(figure);
    }, 150);
  });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  document.documentElement.classList.remove("still");
})();
