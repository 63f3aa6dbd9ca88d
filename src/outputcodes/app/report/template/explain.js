// One row explained: its margins, every codeword against them, and the scores that follow.

const MOST_CODEWORDS = 12,
  MOST_COLUMNS = 60,
  MOST_LETTERS = 14;

function codewordPicture(example, code, classes) {
  return (width) => {
    const order = range(classes.length).sort(
      (a, b) => example.scores[b] - example.scores[a] || (b === example.predicted) - (a === example.predicted) || a - b,
    );
    const words = order.filter((c, place) => place < MOST_CODEWORDS || c === example.truth || c === example.rival);
    const left = Math.min(130, 44 + 7 * Math.max(...words.map((c) => classes[c].length))),
      right = 66;
    const f = example.margins,
      telling = example.lead || f,
      room = width - left - right;
    const most = f.length <= MOST_COLUMNS ? f.length : Math.max(MOST_COLUMNS / 2, Math.floor(room / 9));
    const shown = range(f.length)
      .sort((a, b) => Math.abs(telling[b]) - Math.abs(telling[a]))
      .slice(0, most)
      .sort((a, b) => a - b);
    const cell = clamp(room / shown.length, 9, 34),
      high = 24,
      top = 104;
    const largest = Math.max(...f.map(Math.abs)) || 1;
    const total = left + right + cell * shown.length,
      height = top + high * words.length + 26;
    const y = linear(-largest, largest, top - 12, 18),
      x = (j) => left + j * cell;
    const own = known(example.truth) ? example.truth : example.predicted;
    const sign = (c, s) => ({ "+": 1, "-": -1, 0: 0 })[code.matrix[c][s]];
    const step = [1, 2, 5, 10].find((m) => m * cell >= 24);
    const word = (c, r) =>
      svg(
        "g",
        { class: c === example.predicted ? "word chosen" : "word", transform: `translate(0 ${top + r * high})` },
        svg(
          "text",
          { class: "tag", x: 0, y: 16 },
          (c === example.truth ? "✓" : "") + (c === example.predicted ? "▶" : ""),
        ),
        svg(
          "text",
          { x: left - 8, y: 16, "text-anchor": "end" },
          shorten(classes[c], 12),
          svg("title", {}, wholeName(classes[c])),
        ),
        shown.map((s, j) => {
          const m = sign(c, s),
            product = m * f[s];
          if (m === 0) return svg("rect", { class: "unseen", x: x(j) + 0.5, y: 2, width: cell - 1, height: high - 4 });
          return [
            svg(
              "rect",
              {
                class: m > 0 ? "plus" : "minus",
                "fill-opacity": (0.25 + 0.75 * Math.sqrt(Math.abs(f[s]) / largest)).toFixed(2),
                x: x(j) + 0.5,
                y: 2,
                width: cell - 1,
                height: high - 4,
              },
              svg(
                "title",
                {},
                `column ${s}: codeword ${m > 0 ? "+1" : "−1"}, margin ${number(f[s])}${product < 0 ? ", contradicts" : ""}`,
              ),
            ),
            product < 0
              ? svg("circle", {
                  class: "against",
                  cx: x(j) + cell / 2,
                  cy: high / 2,
                  r: Math.min(cell * 0.42, 3 + 4 * Math.sqrt(Math.abs(f[s]) / largest)),
                })
              : null,
          ];
        }),
        svg("text", { class: "score", x: total, y: 16, "text-anchor": "end" }, number(example.scores[c], 4)),
      );
    return svg(
      "svg",
      { viewBox: `0 0 ${total} ${height}`, width: total, height, class: "chart explain" },
      svg(
        "text",
        { class: "name", x: 0, y: 11 },
        shown.length < f.length
          ? `margins of the ${shown.length} most telling of ${f.length} columns`
          : "margin of each column",
      ),
      svg("text", { class: "name", x: total, y: top - 8, "text-anchor": "end" }, "score"),
      svg("line", { class: "base", x1: left, x2: total - right, y1: y(0), y2: y(0) }),
      shown.map((s, j) =>
        svg(
          "rect",
          {
            class: `${f[s] > 0 ? "plus" : "minus"}${sign(own, s) * f[s] < 0 ? " erred" : ""}`,
            x: x(j) + cell * 0.14,
            width: cell * 0.72,
            y: Math.min(y(0), y(f[s])),
            height: Math.abs(y(f[s]) - y(0)),
          },
          svg("title", {}, `column ${s}: margin ${number(f[s])}`),
        ),
      ),
      words.map(word),
      shown.map((s, j) =>
        j % step
          ? null
          : svg("text", { class: "tick", x: x(j) + cell / 2, y: height - 8, "text-anchor": "middle" }, String(s)),
      ),
    );
  };
}

function scoreBars(example, classes) {
  const values = example.probabilities || example.scores;
  if (!values) return null;
  const order = range(classes.length)
    .sort((a, b) => values[b] - values[a])
    .slice(0, MOST_CODEWORDS);
  const low = example.probabilities ? 0 : Math.min(...order.map((c) => values[c])),
    high = Math.max(...values);
  const share = linear(low, high, example.probabilities ? 0 : 4, example.probabilities ? 100 * high : 100);
  return el(
    "div",
    { class: "scores" },
    el("h3", {}, example.probabilities ? "Probabilities" : "Scores"),
    order.map((c) =>
      el(
        "div",
        { class: c === example.predicted ? "bar best" : "bar" },
        el("span", { class: "what" }, classes[c], c === example.truth ? " ✓" : ""),
        el(
          "span",
          { class: "track", "aria-hidden": "true" },
          el("span", {
            class: "full",
            style: {
              width: `${clamp(share(values[c]), 0, 100)}%`,
              "--series": c === example.predicted ? "var(--minus)" : "var(--soft)",
            },
          }),
        ),
        el("span", { class: "value" }, example.probabilities ? percent(values[c]) : number(values[c], 4)),
      ),
    ),
  );
}

function imageOf(example) {
  const rows = example.image,
    high = rows.length,
    wide = rows[0].length;
  return svg(
    "svg",
    {
      class: "image",
      viewBox: `0 0 ${wide} ${high}`,
      width: 72,
      height: (72 * high) / wide,
      "shape-rendering": "crispEdges",
      role: "img",
      "aria-label": `Row ${example.name} as an image`,
    },
    rows.flatMap((row, y) =>
      row.map((shade, x) => svg("rect", { x, y, width: 1, height: 1, fill: `rgb(${shade} ${shade} ${shade})` })),
    ),
  );
}

function explanation(example, winner) {
  const { classes, code } = winner,
    drawn = code && code.matrix && example.margins;
  const right = example.truth === example.predicted;
  const telling = example.lead
    ? range(example.lead.length)
        .sort((a, b) => Math.abs(example.lead[b]) - Math.abs(example.lead[a]))
        .slice(0, 8)
        .filter((s) => example.lead[s])
    : [];
  const bit = (c, s) => (code.matrix ? code.matrix[c][s].replace("-", "−") : "");
  return [
    el(
      "div",
      { class: "verdict" },
      example.image ? imageOf(example) : null,
      el("p", {}, el("strong", { class: right ? "ok" : "missed" }, right ? "Right. " : "Missed. "), example.summary),
    ),
    example.values.length
      ? el(
          "dl",
          { class: "values", "aria-label": `The features of row ${example.name}` },
          example.values.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
        )
      : null,
    drawn
      ? el(
          "div",
          { class: "scroll" },
          picture(
            codewordPicture(example, code, classes),
            `Row ${example.name}: margins of the columns against the codewords of the classes, best score first`,
          ),
        )
      : null,
    drawn
      ? el(
          "p",
          { class: "legend" },
          el("span", {}, el("i", { class: "key plus" }), "+1"),
          el("span", {}, el("i", { class: "key minus" }), "−1"),
          el("span", {}, el("i", { class: "key dot" }), "the margin contradicts the codeword"),
          el("span", {}, "▶ predicted"),
          el("span", {}, "✓ true"),
          el("span", {}, "paler: less sure"),
          classes.length > MOST_CODEWORDS
            ? el("span", {}, `the best ${MOST_CODEWORDS} of ${classes.length} classes`)
            : null,
        )
      : null,
    el(
      "div",
      { class: "beside" },
      example.probabilities || !drawn ? scoreBars(example, classes) : null,
      example.features.length
        ? el(
            "div",
            { class: "features" },
            el("h3", {}, `Features for ${classes[example.predicted]} over ${classes[example.rival]}`),
            table(
              ["feature", "adds"],
              example.features.map(([name, part]) => [name, (part > 0 ? "+" : "") + number(part)]),
            ),
          )
        : null,
      telling.length
        ? el(
            "div",
            {},
            el("h3", {}, `Columns that separate ${classes[example.predicted]} from ${classes[example.rival]}`),
            table(
              ["column", "margin", ...[example.predicted, example.rival].map((c) => shorten(classes[c], MOST_LETTERS)), "adds"],
              telling.map((s) => [
                s,
                number(example.margins[s]),
                bit(example.predicted, s),
                bit(example.rival, s),
                (example.lead[s] > 0 ? "+" : "") + number(example.lead[s]),
              ]),
            ),
          )
        : null,
    ),
  ];
}

function explainer(winner) {
  const { examples, classes, code } = winner;
  const titled = (c) => (shorten(classes[c], MOST_LETTERS) === classes[c] ? {} : { title: wholeName(classes[c]) });
  const panel = el("div", { id: "explanation", "aria-live": "polite" });
  const kinds = {
    all: () => true,
    missed: (e) => e.truth !== e.predicted,
    corrected: (e) => e.truth === e.predicted && e.wrong.length > 0,
    clear: (e) => e.truth === e.predicted && e.wrong.length === 0,
  };
  let listed = examples,
    chosen = null;
  const rows = examples.map((example, i) =>
    el(
      "tr",
      { "data-example": i, onclick: () => pick(example) },
      el("td", {}, el("button", { type: "button", "aria-pressed": "false" }, String(example.name))),
      el("td", titled(example.truth), shorten(classes[example.truth], MOST_LETTERS)),
      el(
        "td",
        { ...titled(example.predicted), class: example.truth === example.predicted ? "" : "missed" },
        shorten(classes[example.predicted], MOST_LETTERS),
      ),
      code ? el("td", { class: "num" }, String(example.wrong.length)) : null,
    ),
  );
  function pick(example) {
    chosen = example;
    rows.forEach((row, i) => {
      row.classList.toggle("picked", examples[i] === example);
      row.querySelector("button").setAttribute("aria-pressed", String(examples[i] === example));
    });
    panel.replaceChildren(...explanation(example, winner).filter(known));
    paintAll();
  }
  function step(by) {
    if (!listed.length) return;
    pick(listed[(listed.indexOf(chosen) + by + listed.length) % listed.length]);
    rows[examples.indexOf(chosen)].scrollIntoView({ block: "nearest" });
  }
  const tabs = Object.entries(kinds)
    .filter(([kind, test]) => kind === "all" || examples.some(test))
    .map(([kind, test]) =>
      el(
        "button",
        {
          type: "button",
          class: "chip",
          "data-kind": kind,
          "aria-pressed": String(kind === "all"),
          onclick: (event) => {
            listed = examples.filter(test);
            tabs.forEach((tab) => tab.setAttribute("aria-pressed", String(tab === event.currentTarget)));
            rows.forEach((row, i) => {
              row.hidden = !test(examples[i]);
            });
            if (!listed.includes(chosen) && listed.length) pick(listed[0]);
          },
        },
        `${kind} ${examples.filter(test).length}`,
      ),
    );
  if (examples.length) pick(examples.find(kinds.corrected) || examples[0]);
  return el(
    "div",
    { class: "explainer" },
    el(
      "div",
      { class: "choice" },
      el("div", { class: "chips" }, tabs),
      el(
        "div",
        {
          class: "list",
          tabindex: "0",
          role: "region",
          "aria-label": "Rows to explain",
          onkeydown: (event) => {
            const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (by) {
              event.preventDefault();
              step(by);
            }
          },
        },
        el(
          "table",
          { class: "plain" },
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              el("th", { scope: "col" }, "row"),
              el("th", { scope: "col" }, "truth"),
              el("th", { scope: "col" }, "predicted"),
              code ? el("th", { scope: "col", class: "num" }, "wrong bits") : null,
            ),
          ),
          el("tbody", {}, rows),
        ),
      ),
    ),
    panel,
  );
}
