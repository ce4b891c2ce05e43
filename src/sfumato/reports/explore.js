"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const PAGE = 200;
  const columns = new Map(data.columns.map((one) => [one.name, one]));
  const state = { shown: PAGE };
  const percent = Math.round(data.confidence * 100);
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const fine = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const number = (x) => (Math.abs(x) < 10 && x !== Math.round(x) ? fine : whole).format(x);

  // Everything that is shown goes through here, as text: a name or a value is never read as HTML.
  const make = (tag, attributes = {}, ...inside) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside.map((one) => (typeof one === "object" ? one : visible(String(one)))));
    return made;
  };
  const visible = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");

  const interval = (low, high) => (low === null ? "no interval" : low === high ? "exact" : `${number(low)} to ${number(high)}`);

  // The table that is asked for, whichever way round it is stored: one row of figures a value, or a cell for each two values.
  function asked() {
    const [a, b] = [at("a").value, at("b").value];
    if (!b) {
      const one = columns.get(a);
      return { ...one, a, b: "", rows: one.values, cols: [""], lift: null };
    }
    const found = data.tables.find((t) => (t.a === a && t.b === b) || (t.a === b && t.b === a));
    return !found || found.a === a ? found : turned(found);
  }

  function turned(table) {
    const [high, wide] = [table.rows.length, table.cols.length];
    const turn = (list) => Array.from({ length: list.length }, (_, k) => list[(k % high) * wide + Math.floor(k / high)]);
    const cell = (k) => (k % wide) * high + Math.floor(k / wide);
    const found = { ...table, a: table.b, b: table.a, rows: table.cols, cols: table.rows };
    for (const part of ["n", "low", "high", "expected", "lift", "liftLow", "liftHigh"]) found[part] = turn(table[part]);
    found.notes = table.notes.map((one) => ({ ...one, cells: one.cells && one.cells.map(cell) }));
    return found;
  }

  // Whether a link is more than what is unknown, or in an exact cell than what chance would do to unrelated columns.
  function clear(table, k) {
    if (table.lift === null || table.lift[k] === null || table.liftLow[k] === null) return false;
    if (table.low[k] < table.high[k]) return table.liftLow[k] > 1 || table.liftHigh[k] < 1;
    const expected = table.expected[k];
    return Math.abs(table.n[k] - expected) > 2 * Math.sqrt(expected);
  }

  // Which rows and columns are left by the filters, in the order that is wished for.
  function chosen(table) {
    const has = (text, id) => text.toLowerCase().includes(at(id).value.trim().toLowerCase());
    const wide = table.cols.length;
    const cols = table.cols.map((_, j) => j).filter((j) => has(table.cols[j], "find-columns"));
    const sum = (i) => cols.reduce((all, j) => all + table.n[i * wide + j], 0);
    const link = (i) => Math.max(0, ...cols.map((j) => i * wide + j).filter((k) => clear(table, k)).map((k) => Math.abs(Math.log(Math.max(table.lift[k], 1e-3)))));
    const least = Number(at("least").value) || 0;
    const only = at("clear").checked && table.lift !== null;
    let rows = table.rows.map((_, i) => i).filter((i) => has(table.rows[i], "find-rows") && sum(i) >= least);
    if (only) rows = rows.filter((i) => cols.some((j) => clear(table, i * wide + j)));
    const by = { people: sum, link }[at("order").value];
    if (by) rows.sort((i, j) => by(j) - by(i) || i - j);
    return { rows, cols };
  }

  function show() {
    const table = asked();
    const two = at("b").value !== "";
    for (const id of ["find-columns-label", "clear-label", "colour-label"]) at(id).hidden = !two;
    if (!two) at("find-columns").value = "";
    at("region").replaceChildren();
    at("notes").replaceChildren();
    at("legend").replaceChildren();
    at("detail").textContent = "";
    at("more").hidden = true;
    for (const id of ["save-shown", "save-all"]) at(id).disabled = !table;
    if (!table) {
      at("status").textContent = "This page has no table of these two columns: see what did not fit, below the columns.";
      return;
    }
    const kept = chosen(table);
    const some = { ...kept, rows: kept.rows.slice(0, state.shown) };
    at("region").append(two ? grid(table, some) : bars(table, some));
    at("more").hidden = kept.rows.length <= state.shown;
    at("status").textContent = said(table, kept, two);
    if (two) legend();
    notes(table);
    at("detail").textContent = two
      ? "Choose a cell, or move with the arrow keys, to read what is known of it."
      : "Each line is a value of the column; the mark at the end of the bar is the count, the line across it the interval.";
  }

  function said(table, kept, two) {
    const wide = table.cols.length;
    const cells = kept.rows.flatMap((i) => kept.cols.map((j) => i * wide + j));
    const sum = (list) => cells.reduce((all, k) => all + list[k], 0);
    const rows = `${visible(table.a)}${two ? ` and ${visible(table.b)}` : ""}: ${kept.rows.length} of ${table.rows.length} rows`;
    const across = two ? ` and ${kept.cols.length} of ${table.cols.length} columns` : "";
    if (!cells.length) return `${rows}${across}; nothing meets the filter`;
    // Where somebody may have several values, the rows of a secret overlap, and nothing adds up.
    if (columns.get(table.a).overlaps || (two && columns.get(table.b).overlaps)) return `${rows}${across}`;
    const known = cells.every((k) => table.low[k] !== null);
    // Errors of cells may go together in any way: added up, they hold the worst case.
    const ends = known ? `, between ${number(Math.max(0, sum(table.low)))} and ${number(Math.min(data.people, sum(table.high)))}` : "";
    return `${rows}${across}; together about ${number(Math.min(data.people, sum(table.n)))} people${sum(table.low) === sum(table.high) && known ? " (exact)" : ends}`;
  }

  // One column: a line a value, with its interval drawn.
  function bars(table, kept) {
    const most = Math.max(1, ...kept.rows.map((i) => (table.high[i] === null ? table.n[i] : table.high[i])));
    const body = kept.rows.map((i) =>
      make("tr", {}, make("th", { scope: "row" }, table.rows[i]), make("td", { class: "number" }, number(table.n[i])),
        make("td", { class: "number" }, interval(table.low[i], table.high[i])),
        make("td", { class: "number" }, `${((100 * table.n[i]) / data.people).toFixed(1)} %`),
        make("td", { class: "bar" }, bar(table.n[i], table.low[i], table.high[i], most))));
    const heads = [[table.a, ""], ["people", "number"], [`${percent} % interval`, "number"], ["share", "number"], ["", "bar"]];
    return make("table", { "aria-describedby": "status" },
      make("thead", {}, make("tr", {}, ...heads.map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))),
      make("tbody", {}, ...body));
  }

  function bar(n, low, high, most) {
    const drawn = (tag, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      return made;
    };
    const x = (people) => (100 * people) / most;
    const svg = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    svg.append(drawn("rect", { x: 0, y: 2.5, width: Math.max(0, x(n)), height: 5, fill: "var(--sf-0)", opacity: 0.2 }));
    if (low !== null && low < high) svg.append(drawn("rect", { x: x(low), y: 4.3, width: Math.max(0.3, x(high) - x(low)), height: 1.4, fill: "var(--sf-0)", opacity: 0.6 }));
    svg.append(drawn("rect", { x: Math.max(0, x(n) - 0.6), y: 3, width: 1.2, height: 4, fill: "var(--sf-0)" }));
    return svg;
  }

  // Two columns: a heat map that is a table of numbers.
  function grid(table, kept) {
    const wide = table.cols.length;
    const most = Math.max(1, ...kept.rows.flatMap((i) => kept.cols.map((j) => table.n[i * wide + j])));
    const head = make("tr", {}, make("th", { scope: "col" }, `${table.a} \u2572 ${table.b}`),
      ...kept.cols.map((j) => make("th", { scope: "col", class: "number" }, table.cols[j])));
    const body = kept.rows.map((i) =>
      make("tr", {}, make("th", { scope: "row" }, table.rows[i]), ...kept.cols.map((j) => cellOf(table, i, j, most))));
    const made = make("table", { role: "grid", "aria-describedby": "status", "aria-label": `${visible(table.a)} and ${visible(table.b)}` },
      make("thead", {}, head), make("tbody", {}, ...body));
    const cells = [...made.querySelectorAll("td")];
    if (cells.length) cells[0].tabIndex = 0;
    const moveTo = (cell) => {
      const before = made.querySelector('td[tabindex="0"]');
      if (before) before.tabIndex = -1;
      cell.tabIndex = 0;
      cell.focus();
    };
    made.addEventListener("focusin", (event) => {
      const cell = event.target.closest("td");
      if (cell) at("detail").textContent = detail(table, Number(cell.dataset.cell));
    });
    made.addEventListener("click", (event) => {
      const cell = event.target.closest("td");
      if (cell) moveTo(cell);
    });
    made.addEventListener("keydown", (event) => {
      const place = cells.indexOf(document.activeElement);
      const across = kept.cols.length;
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across };
      let to = place + (steps[event.key] || 0);
      if (event.key === "Home") to = place - (place % across);
      else if (event.key === "End") to = place - (place % across) + across - 1;
      else if (!(event.key in steps)) return;
      if ((event.key === "ArrowRight" && to % across === 0) || (event.key === "ArrowLeft" && place % across === 0)) to = place;
      event.preventDefault();
      if (cells[to]) moveTo(cells[to]);
    });
    return made;
  }

  function cellOf(table, i, j, most) {
    const k = i * table.cols.length + j;
    const lift = table.lift[k];
    const mark = clear(table, k) ? (lift > 1 ? "\u25b2 " : "\u25bc ") : "";
    const made = make("td", { class: "number", tabindex: "-1", "data-cell": k, "aria-label": detail(table, k) }, mark + number(table.n[k]));
    if (table.low[k] === null || table.low[k] < table.high[k]) made.append(make("small", {}, interval(table.low[k], table.high[k])));
    const colour = at("colour").value;
    let heat = 0;
    if (colour === "count") {
      heat = (55 * table.n[k]) / most;
      made.classList.add("many");
    } else if (colour === "lift" && lift !== null) {
      heat = 55 * Math.min(1, Math.abs(Math.log2(Math.max(lift, 1e-3))) / 2) * (clear(table, k) ? 1 : 0.3);
      made.classList.add(lift > 1 ? "more" : "less");
    }
    made.style.setProperty("--heat", `${heat.toFixed(0)}%`);
    return made;
  }

  function detail(table, k) {
    const [row, column] = [table.rows[Math.floor(k / table.cols.length)], table.cols[k % table.cols.length]];
    const [low, high, lift] = [table.low[k], table.high[k], table.lift[k]];
    const ends = low === null ? "no honest interval is known" : low === high ? "which is exact" : `${number(low)} to ${number(high)} with ${percent} % confidence`;
    const times = lift === null ? "" : `; ${lift} times as many as if unrelated` +
      (table.liftLow[k] === null || table.liftLow[k] === table.liftHigh[k] ? "" : ` (${table.liftLow[k]} to ${table.liftHigh[k]})`);
    return visible(`${table.a} ${row}, ${table.b} ${column}: ${number(table.n[k])} people, ${ends}${times}.`);
  }

  function legend() {
    const swatch = (kind, heat, text) => {
      const box = make("i", { class: kind });
      const colour = { more: "var(--sf-more)", less: "var(--sf-less)", many: "var(--sf-2)" }[kind];
      box.style.background = `color-mix(in srgb, ${colour} ${heat}%, transparent)`;
      return make("span", {}, box, text);
    };
    const by = at("colour").value;
    if (by === "lift") at("legend").append(
      swatch("more", 55, "4 times as many as if unrelated, or more"), swatch("more", 16, "more, but chance may do that"),
      swatch("less", 55, "a quarter, or fewer"), make("span", {}, "\u25b2 \u25bc clear: the interval leaves \u201cunrelated\u201d out, or the count is exact and chance would hardly do it"));
    if (by === "count") at("legend").append(swatch("many", 55, "most people"), swatch("many", 10, "few"));
  }

  function notes(table) {
    if (table.test) at("notes").append(make("p", { class: "about" }, `Are they associated? ${table.test}.`));
    for (const one of table.notes) {
      const where = one.cells === null ? "Every figure here" : `${one.cells.length} figures here`;
      at("notes").append(make("p", { class: "note careful" }, `${where}: ${one.text}`));
    }
  }

  // A text that a spreadsheet would take for a formula gets a quote before it.
  const field = (text) => {
    const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return `"${safe.replace(/"/g, '""')}"`;
  };
  const plain = (x) => (x === null || x === undefined ? "" : String(x));

  function csv(table, kept) {
    const wide = table.cols.length;
    const two = table.lift !== null;
    const heads = two ? [table.a, table.b, "count", "low", "high", "lift", "lift_low", "lift_high"] : [table.a, "count", "low", "high"];
    const lines = [heads.map(field).join(",")];
    for (const i of kept.rows) for (const j of kept.cols) {
      const k = i * wide + j;
      const keys = two ? [field(table.rows[i]), field(table.cols[j])] : [field(table.rows[i])];
      const figures = [table.n, table.low, table.high, ...(two ? [table.lift, table.liftLow, table.liftHigh] : [])];
      lines.push([...keys, ...figures.map((one) => plain(one[k]))].join(","));
    }
    return lines.join("\n") + "\n";
  }

  function save(all) {
    const table = asked();
    const kept = all ? { rows: table.rows.map((_, i) => i), cols: table.cols.map((_, j) => j) } : chosen(table);
    const link = make("a", { download: [table.a, table.b].filter(Boolean).map((one) => one.replace(/[^\w-]+/g, "_")).join("-") + ".csv" });
    link.href = URL.createObjectURL(new Blob(["\ufeff", csv(table, kept)], { type: "text/csv;charset=utf-8" }));
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // What the second column can be, given the first.
  function choices() {
    const [a, before] = [at("a").value, at("b").value];
    const others = data.tables.flatMap((t) => (t.a === a ? [t.b] : t.b === a ? [t.a] : []));
    at("b").replaceChildren(make("option", { value: "" }, "(none: this column alone)"), ...others.map((name) => make("option", { value: name }, name)));
    at("b").value = others.includes(before) ? before : "";
    at("swap").disabled = at("b").value === "";
  }

  function themes() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const now = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    const label = () => { at("theme").textContent = now() === "dark" ? "Switch to light" : "Switch to dark"; };
    at("theme").addEventListener("click", () => {
      document.documentElement.dataset.theme = now() === "dark" ? "light" : "dark";
      label();
    });
    dark.addEventListener("change", label);
    label();
  }

  function words() {
    at("about").textContent = `Made by ${data.software} from the published files alone: it says nothing that they do not say, and loads nothing.`;
    const secret = data.columns.filter((one) => one.secret).map((one) => one.name).join(", ");
    at("reading-list").append(...[
      `Figures are estimates. An interval holds the true number of people with ${percent} % confidence; \u201cno interval\u201d means that an honest one could not be given.`,
      "What only published columns decide is exact, where the release shows people\u2019s own values.",
      `They are about the people together. Nothing here is a measurement of one person, and no figure says what somebody\u2019s ${secret} is.`,
      "\u201cTimes as many as if unrelated\u201d (lift) compares a cell with what there would be if the two columns had nothing to do with each other.",
      "Looking at many cells, some leave \u201cunrelated\u201d out by chance: about one in twenty where there is nothing.",
    ].map((one) => make("li", {}, one)));
    const body = at("promise-body");
    body.append(...data.seen.filter(Boolean).map((one) => make("p", {}, one)));
    if (!data.promises.length) body.append(make("p", { class: "note careful" }, "This release promises no bound on what anybody believes about a person."));
    if (data.weaker) body.append(make("p", {}, data.weaker));
    for (const one of data.promises) body.append(make("p", { class: "note good" }, one.text));
    if (data.bounds.length) body.append(make("details", {}, make("summary", {}, "The bound of every value"), make("table", {},
      make("thead", {}, make("tr", {}, ...["value", "people who have it", "belief at most"].map((one, k) => make("th", { scope: "col", class: k ? "number" : "" }, one)))),
      make("tbody", {}, ...data.bounds.map((one) => make("tr", {}, make("th", { scope: "row" }, one[0]), make("td", { class: "number" }, one[1]), make("td", { class: "number" }, one[2])))))));
    body.append(...data.open.map((one) => make("p", {}, one)));
    body.append(make("p", {}, "This page repeats the promise; it does not check it. \u201csfumato audit\u201d does, with the release alone or with the original table."));
    at("columns-body").append(make("dl", {}, ...data.columns.flatMap((one) =>
      [make("dt", {}, one.name), make("dd", {}, `${one.secret ? "sensitive" : "published"}, ${one.shown}; ${one.values.length} values`)])));
    if (data.left.length) at("columns-body").append(make("h3", {}, "What did not fit into this page"),
      make("ul", {}, ...data.left.map((one) => make("li", {}, one))));
  }

  function start() {
    words();
    themes();
    at("a").append(...data.columns.map((one) => make("option", { value: one.name }, one.name)));
    const first = data.tables[0];
    if (first) at("a").value = columns.get(first.b).secret ? first.b : first.a;
    choices();
    if (first) at("b").value = at("a").value === first.a ? first.b : first.a;
    at("swap").disabled = at("b").value === "";
    at("controls").addEventListener("submit", (event) => event.preventDefault());
    // What is typed counts at once. A field that is left says "change" as well, and must not take away the cell that is entered.
    for (const kind of ["input", "change"]) at("controls").addEventListener(kind, (event) => {
      if ((kind === "change") !== (event.target.tagName === "SELECT")) return;
      state.shown = PAGE;
      if (event.target.id === "a") choices();
      at("swap").disabled = at("b").value === "";
      show();
    });
    at("swap").addEventListener("click", () => {
      const [a, b] = [at("a").value, at("b").value];
      at("a").value = b;
      choices();
      at("b").value = a;
      at("swap").disabled = false;
      show();
    });
    at("reset").addEventListener("click", () => {
      for (const id of ["find-rows", "find-columns"]) at(id).value = "";
      [at("least").value, at("clear").checked, at("order").value, at("colour").value] = ["0", false, "published", "lift"];
      state.shown = PAGE;
      show();
    });
    at("more").addEventListener("click", () => {
      state.shown += PAGE;
      show();
    });
    at("save-shown").addEventListener("click", () => save(false));
    at("save-all").addEventListener("click", () => save(true));
    show();
  }

  start();
})();
