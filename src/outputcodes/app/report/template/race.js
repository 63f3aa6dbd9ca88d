// A race: who ran how far and why they left, the winner's parts, its learning curve, the columns that matter to it.

const axisError = (error) => (shareOfErrors ? `${number(100 * error)} %` : number(error));

// Errors of a race may differ a hundredfold: the scale is logarithmic where that helps.
function errorScale(errors, from, to) {
  const top = Math.max(...errors) * 1.08 || 1,
    least = Math.min(...errors) / 1.2;
  const wide = least > 0 && top > 8 * least;
  return {
    y: (wide ? logarithmic : linear)(wide ? least : 0, top, from, to),
    yTicks: wide ? decades(least, top) : ticks(0, top),
    yTitle: `${data.metric}${wide ? ", logarithmic" : ""}`,
  };
}

function lapsPicture(race, winners) {
  return (width) => {
    const height = clamp(width * 0.45, 260, 380);
    const box = { left: 48, right: 18, top: 24, bottom: 44 };
    const measured = race.entries.filter((entry) => entry.points.length);
    const scale = errorScale(
      measured.flatMap((entry) => entry.points.map((point) => point.loss)),
      height - box.bottom,
      box.top,
    );
    const inset = Math.min(70, width / 8);
    const x = linear(0, race.laps.length - 1, box.left + inset, width - box.right - inset);
    const line = (entry) => {
      const won = winners.has(entry.name);
      const last = entry.points.at(-1);
      const path = entry.points
        .map((point, i) => `${i ? "L" : "M"}${x(point.lap).toFixed(1)} ${scale.y(point.loss).toFixed(1)}`)
        .join("");
      const said = `${entry.name}: ${entry.points.map((point) => `${format(point.loss)} with ${count(race.laps[point.lap].rows)} rows`).join(", ")}${entry.left ? `. ${entry.left.why}` : ""}`;
      return svg(
        "g",
        { class: won ? "runner won" : "runner" },
        svg("path", { d: path }),
        entry.points.map((point) => svg("circle", { cx: x(point.lap), cy: scale.y(point.loss), r: point === last ? 4 : 2.5 })),
        svg("title", {}, said),
      );
    };
    return svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart race" },
      axes(width, height, box, {
        x,
        ...scale,
        xTicks: range(race.laps.length),
        xFormat: (lap) => {
          const { rows, folds } = race.laps[lap];
          const alone = race.laps.filter((other) => other.rows === rows).length === 1;
          return alone ? count(rows) : `${count(rows)}, ${folds} fold${folds > 1 ? "s" : ""}`;
        },
        yFormat: axisError,
        xTitle: "training rows, lap by lap",
      }),
      measured.filter((entry) => !winners.has(entry.name)).map(line),
      measured.filter((entry) => winners.has(entry.name)).map(line),
    );
  };
}

function entriesTable(race, winners) {
  const rows = race.entries.map((entry) => {
    const last = entry.points.at(-1);
    const why = winners.has(entry.name) ? "winner" : (entry.left?.why ?? "finalist");
    return el(
      "tr",
      { class: winners.has(entry.name) ? "picked" : null },
      el("td", {}, entry.name),
      el("td", {}, entry.family),
      el("td", { class: "num" }, last ? el("b", {}, format(last.loss)) : "–"),
      el("td", { class: "num" }, count(last ? race.laps[last.lap].rows : entry.left.rows)),
      el("td", { class: "num" }, last ? seconds(last.seconds) : "–"),
      el("td", { class: "why" }, why),
    );
  });
  const head = ["entry", "family", data.metric, "rows", "training", "how it ended"];
  const numbers = new Set([2, 3, 4]);
  return el(
    "div",
    { class: "scroll entries" },
    el(
      "table",
      { class: "ranked" },
      el("thead", {}, el("tr", {}, head.map((text, i) => el("th", { scope: "col", class: numbers.has(i) ? "num" : null }, text)))),
      el("tbody", {}, rows),
    ),
  );
}

function curvePicture(curve) {
  return (width) => {
    const height = Math.min(Math.max(230, width * 0.5), 340),
      box = { left: 48, right: 18, top: 24, bottom: 44 };
    const every = curve.flatMap((point) => [point.loss, ...point.folds]);
    const scale = errorScale(every, height - box.bottom, box.top);
    const low = curve[0].rows,
      high = curve.at(-1).rows;
    const x = logarithmic(low / 1.15, high * 1.15, box.left, width - box.right);
    const at = (rows, loss, i) => `${i ? "L" : "M"}${x(rows).toFixed(1)} ${scale.y(loss).toFixed(1)}`;
    return svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart" },
      axes(width, height, box, {
        x,
        ...scale,
        xTicks: curve.map((point) => point.rows),
        xFormat: count,
        yFormat: axisError,
        xTitle: "training rows, logarithmic",
      }),
      curve.map((point) =>
        point.folds.map((loss) => svg("circle", { class: "fold-point", cx: x(point.rows), cy: scale.y(loss), r: 2.5 })),
      ),
      svg("path", { class: "curve", d: curve.map((point, i) => at(point.rows, point.loss, i)).join("") }),
      curve.map((point) =>
        svg(
          "circle",
          { class: "bubble", cx: x(point.rows), cy: scale.y(point.loss), r: 5 },
          svg("title", {}, `${count(point.rows)} rows: ${format(point.loss)}`),
        ),
      ),
    );
  };
}

function importanceBars({ columns }) {
  const most = Math.max(...columns.map(([, mean, spread]) => mean + spread), 1e-9);
  const width = (value) => `${((100 * Math.max(0, value)) / most).toFixed(2)}%`;
  return el(
    "div",
    { class: "importance" },
    columns.map(([name, mean, spread]) =>
      el(
        "div",
        { class: "bar", title: `${name}: ${points(mean)} ± ${points(spread).replace("+", "")}` },
        el("span", { class: "what" }, name),
        el(
          "span",
          { class: "track", "aria-hidden": "true" },
          el("span", { class: "full", style: { width: width(mean), "--series": "var(--minus)" } }),
          mean > 0 && spread > 0
            ? el("span", { class: "whisker", style: { left: width(mean - spread), width: width(Math.min(2 * spread, mean + spread)) } })
            : null,
        ),
        el("span", { class: "value" }, points(mean)),
      ),
    ),
  );
}

function raceSections(race) {
  const winners = new Set(race.members.map(({ name }) => name.replace(/, decoder [^,]*$/, "")));
  section(
    "race",
    "The race",
    [
      "Every family starts on a sample of the rows. What is clearly behind leaves; the others go on with more rows, and the best are tuned.",
      race.laps.length > 1 ? "Each line is an entry, from lap to lap; it ends where the entry left." : "The table is small, so that there is one lap.",
    ].join(" "),
    race.laps.length > 1 ? picture(lapsPicture(race, winners), `Errors of ${race.entries.length} entries, lap by lap`) : null,
    el("h3", {}, "Laps"),
    table(
      ["lap", "training rows", "folds", "entries measured", "estimated to begin with", "took, with tuning"],
      race.laps.map((lap, i) => [i + 1, count(lap.rows), lap.folds, lap.entries, seconds(lap.estimated), seconds(lap.seconds)]),
    ),
    el("h3", {}, "Entries", el("small", {}, "those that came furthest first")),
    entriesTable(race, winners),
    race.more ? el("p", { class: "lead" }, `${count(race.more)} more entries are not shown.`) : null,
  );
  section(
    "winner",
    race.members.length > 1 ? "The average" : "The winner",
    race.members.length > 1
      ? `The probabilities of these models, fitted to ${count(race.rows)} rows and calibrated on held-out rows, are averaged with these weights.`
      : `Fitted to ${count(race.rows)} rows; its probabilities are calibrated on held-out rows.`,
    table(
      ["weight", "model", "code", "decoder", "parameters found", `${data.metric} alone`],
      race.members.map((one) => [
        percent(one.weight, 0),
        one.contestant,
        one.code || "–",
        one.decoder || "–",
        parametersOf(one.parameters) || "–",
        known(one.loss) ? format(one.loss) : "–",
      ]),
    ),
  );
  if (race.curve.length > 1)
    section(
      "learning",
      "Learning curve",
      `Error on held-out rows of ${race.best} by the number of rows that it was trained on; dots are folds. A line that still falls says that more rows would help.`,
      picture(curvePicture(race.curve), "Learning curve"),
    );
  if (race.importance)
    section(
      "columns",
      "Columns that matter",
      `How much the ${data.metric} of the winner grows${shareOfErrors ? ", in points," : ""} on ${count(race.importance.rows)} ${data.held_out} when the values of one column are shuffled${race.importance.repeats > 1 ? `, mean of ${race.importance.repeats}` : ""}. Of columns that say the same, each may seem to matter little.${race.importance.features > race.importance.columns.length ? ` The first ${race.importance.columns.length} of ${count(race.importance.features)}.` : ""}`,
      importanceBars(race.importance),
    );
}
