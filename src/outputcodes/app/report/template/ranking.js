// The data with its words and numbers, the headline, and the ranked table with its sorting and filtering.

const data = JSON.parse(document.getElementById("data").textContent);
Object.entries(data.winner?.long_names ?? {}).forEach(([cut, whole]) => longNames.set(cut, whole));
const shareOfErrors = data.metric !== "log-loss";
const format = (error) => (shareOfErrors ? percent(error, 2) : error.toFixed(4));
const points = (difference) =>
  `${difference > 0 ? "+" : difference < 0 ? "−" : ""}${shareOfErrors ? (100 * Math.abs(difference)).toFixed(2) : Math.abs(difference).toFixed(4)}`;
const valueOf = (value) => (typeof value === "number" ? number(value) : String(value ?? "none"));
const parametersOf = (parameters) =>
  Object.entries(parameters ?? {})
    .map(([name, value]) => `${name} = ${valueOf(value)}`)
    .join(", ");
// The finalists of a race differ in their parameters too.
const nameOf = (row) =>
  [row.learner, row.code, row.decoder, parametersOf(row.parameters)].filter(Boolean).join(" · ") || "unnamed";
const folds = data.rows[0].fold_errors.length,
  tested = data.rows.some((row) => known(row.p_value));
// The interval of a share is not symmetric, and none goes below 0: shown is the side of the larger errors.
const half = ({ interval, loss }) => {
  const above = interval[1] - loss;
  return ` ± ${shareOfErrors ? (100 * above).toFixed(2) : above.toFixed(4)}`;
};
const plusMinus = (row) => (row.interval ? half({ interval: row.interval, loss: row.error }) : "");

let chosenRow = data.rows[0];
function choose(row) {
  chosenRow = row;
  document
    .querySelectorAll("[data-rank]")
    .forEach((node) => node.classList.toggle("picked", node.dataset.rank === String(row.rank)));
}

const sections = [];
function section(id, title, text, ...content) {
  const node = el(
    "section",
    { id, class: "card", "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title),
    text ? el("p", { class: "lead" }, text) : null,
    content,
  );
  sections.push({ id, title, node });
}

function headline() {
  const best = data.rows[0],
    others = data.rows.length - 1;
  const level = data.rows.slice(1).filter((row) => known(row.p_value) && row.p_value >= 0.05).length;
  const tile = (value, label, extra) =>
    el("div", { class: `tile ${extra || ""}` }, el("strong", {}, value), el("span", {}, label));
  document
    .getElementById("headline")
    .append(
      ...[
        tile(
          nameOf(best),
          data.race ? `winner of ${count(data.race.entries.length + data.race.more)} entries` : `best of ${data.rows.length} systems`,
          "wide",
        ),
        data.race
          ? tile(format(data.race.expected.loss) + half(data.race.expected), `expected ${data.metric} on new rows`)
          : null,
        data.race?.tested
          ? tile(format(data.race.tested.loss), `${data.metric} on ${count(data.race.tested.rows)} test rows`)
          : null,
        data.race
          ? null
          : tile(
              format(best.error) + plusMinus(best),
              [data.metric, folds > 1 ? `${folds} folds` : null, best.interval ? "95 % interval" : null]
                .filter(known)
                .join(", "),
            ),
        known(best.columns) ? tile(count(best.columns), "binary columns") : null,
        known(best.fit_seconds) ? tile(seconds(best.fit_seconds), folds > 1 ? "to train one fold" : "to train") : null,
        tested
          ? tile(`${level} of ${others}`, "others not significantly worse at 5 %")
          : null,
      ].filter(known),
    );
  document
    .getElementById("facts")
    .append(...data.facts.flatMap(([name, value]) => [el("span", {}, `${name} `, el("b", {}, value)), " "]));
}

function strip(row, most) {
  const at = (value) => `${clamp((100 * value) / most, 0, 100).toFixed(2)}%`;
  return el(
    "span",
    { class: "strip", "aria-hidden": "true" },
    row.interval
      ? el("span", {
          class: "between",
          style: { left: at(row.interval[0]), width: at(row.interval[1] - row.interval[0]) },
        })
      : null,
    row.fold_errors.length > 1
      ? row.fold_errors.map((error) => el("span", { class: "fold", style: { left: at(error) } }))
      : null,
    el("span", { class: "mean", style: { left: at(row.error) } }),
  );
}

// The rows as they are shown, with every digit.
function spreadsheet(rows) {
  const keys = Object.keys(data.rows[0]).filter((key) => !["fold_errors", "interval", "frontier"].includes(key));
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const cell = (value) =>
    typeof value === "string" ? quoted(value) : typeof value === "object" && value ? quoted(JSON.stringify(value)) : (value ?? "");
  return [keys, ...rows.map((row) => keys.map((key) => cell(row[key])))]
    .map((cells) => `${cells.join(",")}\r\n`)
    .join("");
}

function ranking() {
  const rows = data.rows,
    most =
      Math.max(...rows.map((row) => Math.max(row.error, ...row.fold_errors, row.interval ? row.interval[1] : 0))) || 1;
  // The columns and their texts are those of the terminal and of notebooks; the picture of the folds is only here.
  const dress = {
    rank: (text) => el("button", { type: "button", title: "Find it in the pictures" }, text),
    error: (text, row) =>
      el("b", { title: row.interval ? `95 % interval: ${row.interval.map(format).join(" to ")}` : null }, text),
    p_value: (text, row) => (row.rank === 1 ? "best" : text),
  };
  const columns = data.columns.map(({ key, heading, number }, place) => ({
    key,
    title: heading,
    num: number,
    cell: (row) => (dress[key] ?? ((text) => text))(data.cells[row.rank - 1][place], row),
  }));
  columns.splice(columns.findIndex(({ key }) => key === "decoder") + 1 || 2, 0, {
    key: "strip",
    title: folds > 1 ? "folds" : "interval",
    cell: (row) => strip(row, most),
    still: true,
  });
  const body = el("tbody"),
    shown = el("output", { class: "shown", for: "search" });
  const lines = rows.map((row) =>
    el(
      "tr",
      { "data-rank": row.rank, onclick: () => choose(row) },
      columns.map(({ key, cell, num }) => el("td", { class: `of-${key}${num ? " num" : ""}` }, cell(row))),
    ),
  );
  let sorting = { key: "rank", down: false };
  const heads = columns.map(({ key, title, num, still }) =>
    el(
      "th",
      { scope: "col", class: num ? "num" : null, "data-key": key, "aria-sort": key === "rank" ? "ascending" : null },
      still ? title : el("button", { type: "button", onclick: () => sort(key) }, title),
    ),
  );
  function sort(key) {
    sorting = { key, down: sorting.key === key && !sorting.down };
    heads.forEach((head) => {
      if (head.dataset.key === key) head.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    arrange();
  }
  const value = (row) =>
    sorting.key === "interval" ? row.interval && row.interval[1] - row.error : row[sorting.key];
  // What is not known comes last in either direction; equal values stay in their ranks.
  function compare(a, b) {
    const [x, y] = [value(rows[a]), value(rows[b])];
    const empty = (value) => !known(value) || value === "";
    if (empty(x) || empty(y)) return empty(x) - empty(y) || a - b;
    const order = typeof x === "string" ? x.localeCompare(y) : x - y;
    return (sorting.down ? -order : order) || a - b;
  }
  const search = el("input", {
    id: "search",
    type: "search",
    placeholder: "filter: words, all of them",
    "aria-label": "Filter the systems",
    oninput: arrange,
  });
  // A row of decoders that predict the same is found by each of their names.
  const valuesOf = (row, key) => (key === "decoder" ? [row.decoder, ...row.also] : [row[key]]);
  const selects = ["learner", "code", "decoder"]
    .map((key) => {
      const values = [...new Set(rows.flatMap((row) => valuesOf(row, key)))].filter(Boolean).sort();
      return values.length < 2
        ? null
        : el(
            "select",
            { "data-key": key, "aria-label": `Only this ${key === "learner" ? "system" : key}`, onchange: arrange },
            el("option", { value: "" }, `every ${key === "learner" ? "system" : key}`),
            values.map((value) => el("option", { value }, value)),
          );
    })
    .filter(known);
  const save = el("a", { class: "save", download: "ranking.csv" }, "Save as CSV");
  function arrange() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = range(rows.length).filter(
      (i) =>
        words.every((word) => [nameOf(rows[i]), ...rows[i].also].join(" ").toLowerCase().includes(word)) &&
        selects.every((select) => !select.value || valuesOf(rows[i], select.dataset.key).includes(select.value)),
    );
    body.replaceChildren(...kept.sort(compare).map((i) => lines[i]));
    shown.textContent = `${kept.length} of ${rows.length}`;
    save.setAttribute(
      "href",
      `data:text/csv;charset=utf-8,${encodeURIComponent(spreadsheet(kept.map((i) => rows[i])))}`,
    );
    choose(chosenRow);
  }
  arrange();
  section(
    "ranking",
    "Ranking",
    [
      "Best first.",
      folds > 1
        ? "Each dot is the error of a fold, the bar the 95 % interval; p is that of the corrected paired t-test on the folds against the best."
        : tested
          ? `The bar is the 95 % interval on the tested rows; p is that of ${data.metric === "error" ? "McNemar's exact test against the best, on the rows that only one of the two misses" : "the paired t-test against the best on these rows"}.`
          : data.race && rows.length === 1
            ? "There is nothing to compare with."
            : "There is one split, and no paired test.",
      "Click a heading to sort, a row to find it in the pictures.",
    ].join(" "),
    el("div", { class: "tools" }, search, selects, shown, save),
    el(
      "div",
      { class: "scroll" },
      el("table", { id: "ranked", class: "ranked" }, el("thead", {}, el("tr", {}, heads)), body),
    ),
  );
}
