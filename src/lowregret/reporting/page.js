"use strict";
// Makes tables sortable and filterable, lets a reader choose policies, and keeps these choices when the page
// is loaded again. Without scripts the page is the same text, tables and pictures.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);
  const place = `lowregret ${location.pathname}`;
  const saved = (() => {
    try { return JSON.parse(sessionStorage.getItem(place)) || {}; } catch { return {}; }
  })();
  const state = { chosen: [], only: false, tables: {}, folds: [], theme: "", ...saved };
  function save() {
    state.folds = all("details").flatMap((fold, number) => (fold.open ? [number] : []));
    try { sessionStorage.setItem(place, JSON.stringify(state)); } catch { /* a page of private browsing */ }
  }

  // The number in a cell, such as 1,234.5 in "1,234.5 ± 6.7"; NaN where there is none.
  function number(cell) {
    const found = cell.textContent.match(/[-+]?(\d[\d,]*)?\.?\d+(e[-+]?\d+)?/i);
    return found ? parseFloat(found[0].replaceAll(",", "")) : NaN;
  }

  function sort(table, column, direction) {
    const body = table.tBodies[0];
    const words = table.tHead.rows[0].cells[column]?.classList.contains("word");
    const compare = (a, b) => {
      if (!direction) return a.dataset.place - b.dataset.place;
      const [first, second] = [a.cells[column], b.cells[column]];
      if (words) return direction * first.textContent.localeCompare(second.textContent, "en", { numeric: true });
      const [x, y] = [number(first), number(second)];
      if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y); // cells without a number come last
      return direction * (x - y);
    };
    body.append(...[...body.rows].sort(compare));
    for (const [index, head] of [...table.tHead.rows[0].cells].entries()) {
      if (index === column && direction) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
  }

  // Terms are separated by commas: words that a row must contain, or a comparison such as "mean < 30".
  function test(term, heads) {
    const [, name, sign, limit] = term.match(/^(.+?)\s*(<=|>=|<|>)\s*(-?[\d.]+(?:e-?\d+)?)%?$/i) || [];
    const column = name === undefined ? -1 : heads.findIndex((head) => head.startsWith(name));
    if (column >= 0)
      return (row) => {
        const value = number(row.cells[column]);
        return { "<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit }[sign];
      };
    return (row) => term.split(/\s+/).every((word) => row.textContent.toLowerCase().includes(word));
  }

  function filter(table, text, output) {
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim().toLowerCase());
    const terms = text.toLowerCase().split(/,\s*/).map((term) => term.trim()).filter(Boolean);
    const tests = terms.map((term) => test(term, heads));
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !tests.every((passes) => passes(row));
    output.textContent = terms.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows` : "";
  }

  // A comparison that a reader may want to make: the first column of numbers, and its value in a middle row.
  function example(table) {
    const column = [...table.tHead.rows[0].cells].findIndex((head) => !head.classList.contains("word"));
    const value = number(table.tBodies[0].rows[Math.floor(table.tBodies[0].rows.length / 2)].cells[column] ?? table);
    const name = table.tHead.rows[0].cells[column]?.textContent.trim().split(/ [±(]/)[0];
    return name && !isNaN(value) ? `, or ${name} < ${value}` : "";
  }

  for (const [index, table] of all("table").entries()) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 2) continue;
    rows.forEach((row, place) => { row.dataset.place = place; });
    const kept = (state.tables[index] ??= { filter: "", column: -1, direction: 0 });
    for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
      const button = make("button", { type: "button", title: "Sort by this column" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = kept.column === column ? { 1: -1, "-1": 0, 0: 1 }[kept.direction] : 1;
        Object.assign(kept, { column, direction: next });
        sort(table, column, next);
        save();
      });
    }
    if (kept.direction) sort(table, kept.column, kept.direction);
    if (rows.length < 8) continue;
    const hint = `Filter rows by words${example(table)}`;
    const field = make("input", { type: "search", placeholder: hint, ariaLabel: hint, value: kept.filter });
    const output = make("output");
    const tools = make("div", { className: "tools" });
    tools.append(field, output);
    table.closest(".wide").before(tools);
    field.addEventListener("input", () => {
      kept.filter = field.value;
      filter(table, field.value, output);
      save();
    });
    filter(table, kept.filter, output);
  }

  const key = document.getElementById("key");
  const chips = all("#policies button");
  const reset = make("button", { type: "button", textContent: "Reset" });
  function show() {
    const chosen = new Set(state.chosen);
    for (const chip of chips) chip.setAttribute("aria-pressed", chosen.has(chip.dataset.policy));
    for (const row of all("tr[data-policy]"))
      row.classList.toggle("off", chosen.size > 0 && !chosen.has(row.dataset.policy));
    document.body.classList.toggle("only", state.only);
    reset.disabled = !chosen.size;
    document.dispatchEvent(new CustomEvent("policies", { detail: state.chosen }));
    save();
  }
  function choose(policy) {
    const chosen = new Set(state.chosen);
    if (!chosen.delete(policy)) chosen.add(policy);
    state.chosen = chosen.size === chips.length ? [] : [...chosen];
    show();
  }
  const hover = (policy) => document.dispatchEvent(new CustomEvent("hover-policy", { detail: policy }));
  if (key) {
    const known = new Set(chips.map((chip) => chip.dataset.policy));
    state.chosen = state.chosen.filter((policy) => known.has(policy));
    const controls = make("div", { id: "controls" });
    if (chips.length > 10) {
      const field = make("input", { type: "search", placeholder: "Find a policy", ariaLabel: "Find a policy" });
      field.addEventListener("input", () => {
        const text = field.value.trim().toLowerCase();
        for (const chip of chips) chip.hidden = !chip.dataset.policy.toLowerCase().includes(text);
      });
      controls.append(field);
    }
    const box = make("input", { type: "checkbox", checked: state.only });
    const label = make("label", { title: "Hide the rows of other policies in tables" });
    label.append(box, "Hide other rows");
    box.addEventListener("change", () => { state.only = box.checked; show(); });
    reset.addEventListener("click", () => { state.chosen = []; show(); });
    controls.append(reset, label);
    document.getElementById("policies").before(controls);
    for (const chip of chips) {
      chip.title = "Show in color";
      chip.addEventListener("click", () => choose(chip.dataset.policy));
      chip.addEventListener("pointerenter", () => hover(chip.dataset.policy));
      chip.addEventListener("pointerleave", () => hover(""));
    }
    for (const cell of all("tr[data-policy] td:has(.swatch)"))
      cell.addEventListener("click", () => choose(cell.parentElement.dataset.policy));
    document.addEventListener("choose-policy", (event) => known.has(event.detail) && choose(event.detail));
    show();
  }

  const theme = make("button", { type: "button", id: "theme" });
  const themes = { "": "◐", light: "○", dark: "●" };
  function paint() {
    document.documentElement.style.colorScheme = state.theme;
    theme.textContent = themes[state.theme];
    theme.title = theme.ariaLabel = `Colors: ${state.theme || "as the system"}`;
  }
  theme.addEventListener("click", () => {
    const names = Object.keys(themes);
    state.theme = names[(names.indexOf(state.theme) + 1) % names.length];
    paint();
    save();
  });
  document.querySelector("header").prepend(theme);
  paint();

  all("details").forEach((fold, index) => {
    if (state.folds.includes(index)) fold.open = true;
    fold.addEventListener("toggle", save);
  });
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.matches("details")) target.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open])");
    for (const fold of folded) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of folded) fold.open = false; });

  // The page of an experiment that is still running is loaded again, but not while somebody types or prints.
  const seconds = Number(document.documentElement.dataset.refresh);
  if (seconds)
    setInterval(() => {
      if (!document.hidden && !document.activeElement?.matches("input")) location.reload();
    }, 1000 * seconds);
  if (!document.getElementById("packed")) document.documentElement.classList.remove("still");
})();
