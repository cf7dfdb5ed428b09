"use strict";
// Turns the still pictures into charts that answer to the pointer. Without scripts the pictures stay.
(async () => {
  const packed = document.getElementById("packed");
  if (!packed || typeof DecompressionStream === "undefined") return;
  const bytes = Uint8Array.from(atob(packed.textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { library, charts, datasets, policies } = JSON.parse(await new Response(stream).text());
  const script = document.createElement("script");
  script.textContent = library;
  document.head.append(script);

  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const live = new Map();
  const chosen = new Set();
  const tip = document.body.appendChild(document.createElement("div"));
  tip.id = "tip";
  tip.hidden = true;

  function swatch(policy) {
    const [colour, ...dash] = policies[policy];
    const space = "http://www.w3.org/2000/svg";
    const picture = document.createElementNS(space, "svg");
    const line = document.createElementNS(space, "line");
    const shape = { width: 26, height: 8, class: "swatch", "aria-hidden": true };
    const look = { x2: 26, y1: 4, y2: 4, stroke: colour, "stroke-width": 3, "stroke-dasharray": dash.join(" ") };
    for (const [name, value] of Object.entries(shape)) picture.setAttribute(name, value);
    for (const [name, value] of Object.entries(look)) line.setAttribute(name, value);
    picture.append(line);
    return picture;
  }

  // The first entry of a tooltip is its heading; the others are rows.
  function hover(handler, event, item, value) {
    tip.hidden = !value;
    if (!value) return;
    const [[title, heading], ...rows] = Object.entries(value);
    const table = document.createElement("table");
    for (const [name, text] of rows) {
      if (text === undefined || text === "undefined") continue;
      const row = table.insertRow();
      const known = Object.hasOwn(policies, name);
      if (known && chosen.size && !chosen.has(name)) row.className = "off";
      const key = row.insertCell();
      key.className = "word";
      if (known) key.append(swatch(name));
      key.append(name);
      row.insertCell().append(text);
    }
    const top = document.createElement("b");
    if (Object.hasOwn(policies, heading)) top.append(swatch(heading), heading);
    else top.append(`${title} ${heading}`);
    tip.replaceChildren(top, table);
    const box = tip.getBoundingClientRect();
    const left = event.clientX + 18 + box.width < innerWidth ? event.clientX + 18 : event.clientX - 18 - box.width;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4))}px`;
  }

  function choose(policy) {
    if (!Object.hasOwn(policies, policy)) return;
    if (!chosen.delete(policy)) chosen.add(policy);
    if (chosen.size === Object.keys(policies).length) chosen.clear();
    for (const { view } of live.values()) view.signal("chosen", [...chosen]).runAsync();
    for (const button of document.querySelectorAll("#key button"))
      button.setAttribute("aria-pressed", chosen.has(button.dataset.policy));
    for (const row of document.querySelectorAll("tr[data-policy]"))
      row.classList.toggle("off", chosen.size > 0 && !chosen.has(row.dataset.policy));
  }

  // A chart that has no room gives up the labels beside it: the key on top has the same names and colours.
  function fitted(original, room) {
    const spec = structuredClone(original.spec);
    spec.datasets = Object.fromEntries(original.data.map((name) => [name, datasets[name]]));
    if (room >= original.width) return spec;
    spec.layer = spec.layer.filter((layer) => !(layer.name || "").startsWith("labels"));
    spec.autosize = { type: "fit-x", contains: "padding" };
    spec.width = room;
    if (original.lines) spec.height = 260;
    spec.padding = { left: 0, right: 8, top: 4, bottom: 4 };
    spec.config.legend = { disable: true };
    spec.config.axis = { ...spec.config.axis, labelLimit: room * 0.36, labelFontSize: 12, titleFontSize: 13 };
    if (spec.title) spec.title = { ...spec.title, fontSize: 15, limit: room, frame: "bounds" };
    return spec;
  }

  async function draw(figure) {
    const place = figure.querySelector(".chart");
    const choices = charts[figure.dataset.chart];
    const room = figure.clientWidth;
    const view = figure.dataset.view || 0;
    live.get(figure)?.finalize();
    const options = { mode: "vega-lite", actions: false, renderer: "svg", tooltip: hover };
    const drawn = await vegaEmbed(place, fitted(choices[view], room), options);
    drawn.view.addEventListener("click", (event, item) => item?.datum?.policy && choose(item.datum.policy));
    await drawn.view.signal("chosen", [...chosen]).runAsync();
    place.classList.add("live");
    live.set(figure, { view: drawn.view, finalize: drawn.finalize, room });
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting && !live.has(target)) {
        live.set(target, { view: { signal: () => ({ runAsync() {} }) }, finalize() {}, room: 0 });
        draw(target);
      }
  }, { rootMargin: "400px" });
  for (const figure of figures) {
    watcher.observe(figure);
    const buttons = [...figure.querySelectorAll(".views button")];
    for (const [number, button] of buttons.entries())
      button.addEventListener("click", () => {
        figure.dataset.view = number;
        for (const each of buttons) each.setAttribute("aria-pressed", each === button);
        draw(figure);
      });
  }
  for (const element of document.querySelectorAll("#key button"))
    element.addEventListener("click", () => choose(element.dataset.policy));
  for (const element of document.querySelectorAll("tr[data-policy] .swatch"))
    element.addEventListener("click", () => choose(element.closest("tr").dataset.policy));

  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target?.matches("details")) target.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const [figure, { room }] of live) if (room && Math.abs(room - figure.clientWidth) > 8) draw(figure);
    }, 200);
  });
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
  document.documentElement.classList.remove("still");
})();
