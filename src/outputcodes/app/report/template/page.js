// The page: the pictures of the comparison, of one classifier looked at closely, and the order of all sections.

function comparisons() {
  const timed = data.rows.filter((row) => known(row.fit_seconds));
  if (timed.length > 1)
    section(
      "time",
      "Time against error",
      "Lower and further left is better. The line joins the systems that none beats in both; diamonds are systems without a code.",
      picture(
        timeAgainstError(
          timed,
          nameOf,
          format,
          (error) => (shareOfErrors ? `${number(100 * error)} %` : number(error)),
          choose,
        ),
        `Training time against error of ${timed.length} systems`,
      ),
    );
  if (data.decoders.some((group) => group.rows.length > 1))
    section(
      "decoders",
      "Decoders, code by code",
      "The columns are trained once; every decoder reads the same margins. Lines show the 95 % interval.",
      bars(data.decoders, data.rows, format, choose),
    );
  if (data.codes.length) {
    const codes = [...new Set(data.codes.flatMap((pair) => [pair.first, pair.second]))];
    const most = Math.max(...data.codes.map((pair) => Math.abs(pair.difference))) || 1;
    section(
      "codes",
      "Codes, pair by pair",
      `Error of the row's code less that of the column's${shareOfErrors ? ", in points" : ""}, mean over the learners and decoders that serve both: blue where the row is better.${folds > 1 ? " Bold: p < 0.05 on the folds." : ""}`,
      heat(codes, codes, (r, c) => {
        const pair = data.codes.find(
          ({ first, second }) =>
            (first === codes[r] && second === codes[c]) || (first === codes[c] && second === codes[r]),
        );
        if (!pair) return { text: r === c ? "" : "–", share: 0, title: "" };
        const turn = pair.first === codes[r] ? 1 : -1,
          difference = turn * pair.difference;
        const wins = turn > 0 ? pair.wins : pair.shared - pair.wins - pair.ties;
        return {
          text: points(difference),
          share: (-0.6 * difference) / most,
          strong: known(pair.p_value) && pair.p_value < 0.05,
          title: `${codes[r]} against ${codes[c]}: better in ${wins} of ${pair.shared}, ${pair.ties} equal; p ${chance(pair.p_value)}`,
        };
      }),
    );
  }
}

function columnsText(winner) {
  const { code, columns, classes } = winner;
  const side = (s, sign) =>
    range(classes.length)
      .filter((c) => code.matrix[c][s] === sign)
      .map((c) => classes[c]);
  const list = (names) =>
    names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : names.join(", ");
  const hardest = range(code.L)
    .sort((a, b) => columns.error[b] - columns.error[a])
    .slice(0, 6);
  return table(
    ["column", "error", "tells +", "from −", "rows"],
    hardest.map((s) => [s, percent(columns.error[s]), list(side(s, "+")), list(side(s, "-")), count(columns.rows[s])]),
  );
}

function codeSection(winner) {
  const { code, columns, classes } = winner;
  if (!code) return;
  const fact = (value, label) => el("div", {}, el("dt", {}, label), el("dd", {}, value));
  const facts = el(
    "dl",
    { class: "facts" },
    fact(`${code.k} × ${count(code.L)}`, "classes × columns"),
    fact(number(code.rho), "ρ, the smallest distance of two rows"),
    fact(String(code.correctable_errors), "wrong columns surely corrected"),
    fact(known(code.min_column_distance) ? number(code.min_column_distance) : "–", "smallest distance of two columns"),
    fact(percent(code.share_of_zeros), "entries 0"),
    ...["repeated", "mirrored", "one_sided"]
      .filter((name) => code[`${name}_columns`])
      .map((name) => fact(String(code[`${name}_columns`]), `${name.replace("_", "-")} columns`)),
  );
  section(
    "code",
    "The code",
    `A row for each class, a column for each binary problem. The pictures from here on look closely at one classifier: ${winner.title}, decoded by ${winner.decoder}.`,
    facts,
    code.matrix
      ? el(
          "div",
          { class: "scroll" },
          picture(
            codePicture(code, columns, classes),
            `Code matrix of ${code.k} classes and ${code.L} columns, with the error of each column`,
          ),
        )
      : el("p", {}, "The matrix is too large to be drawn."),
    el(
      "p",
      { class: "legend" },
      el("span", {}, el("i", { class: "key plus" }), "+1"),
      el("span", {}, el("i", { class: "key minus" }), "−1"),
      el("span", {}, el("i", { class: "key none" }), "0, not seen"),
    ),
    el(
      "div",
      { class: "side" },
      code.matrix ? el("div", {}, el("h3", {}, "Hardest columns"), columnsText(winner)) : null,
      code.row_distances ? distances(code, classes) : null,
    ),
  );
}

function distances(code, classes) {
  const rows = code.row_distances,
    apart = rows.flatMap((row, r) => row.filter((_, c) => c !== r));
  const low = Math.min(...apart),
    high = Math.max(...apart);
  const content = [
    el(
      "p",
      { class: "lead" },
      `Between ${number(low)} and ${number(high)}; the closest pairs are the easiest to mistake.`,
    ),
    heat(classes, classes, (r, c) =>
      r === c
        ? { text: "", share: 0, title: "" }
        : {
            text: number(rows[r][c]),
            share: high > low ? (0.75 * (rows[r][c] - low)) / (high - low) : 0.35,
            title: `${classes[r]} and ${classes[c]}: ${number(rows[r][c])}`,
          },
    ),
  ];
  const heading = el("h3", {}, "Distances between rows");
  if (low === high)
    return el("div", {}, heading, el("p", { class: "lead" }, `Every two rows are ${number(low)} apart.`));
  return classes.length <= 24 ? el("div", {}, heading, content) : details("Distances between rows", content);
}

function answersSections(winner) {
  const { classes, confusion, margins, reliability } = winner,
    counts = winner.class_counts;
  section(
    "confusion",
    "Confusions",
    `${winner.code ? "" : `${winner.title}: `}${percent(winner.error, 2)} of ${count(winner.rows)} ${data.held_out} are wrong. Rows are the truth, columns the prediction.`,
    el(
      "div",
      { class: "side" },
      confusion.matrix
        ? heat(classes, classes, (r, c) => {
            const n = confusion.matrix[r][c],
              share = counts[r] ? n / counts[r] : 0;
            return {
              text: n ? String(n) : "",
              share: r === c ? 0.75 * share : n ? -clamp(0.18 + 2.5 * share, 0, 0.9) : 0,
              title: `${classes[r]} taken for ${classes[c]}: ${n} of ${counts[r]}`,
            };
          })
        : null,
      confusion.pairs.length
        ? el(
            "div",
            {},
            el("h3", {}, "Most confused"),
            table(
              ["truth", "taken for", "rows", "of the class"],
              confusion.pairs.map(([t, p, n]) => [classes[t], classes[p], n, percent(n / counts[t])]),
            ),
          )
        : null,
    ),
  );
  const graphs = [];
  if (margins.multiclass)
    graphs.push(
      el(
        "figure",
        {},
        el(
          "figcaption",
          {},
          el("h3", {}, "Margins of the decoder"),
          `Score of the true class less the best other: ${percent(margins.multiclass.below_zero / margins.multiclass.total)} below 0${margins.multiclass.at_zero ? `, ${count(margins.multiclass.at_zero)} ties` : ""}.`,
        ),
        picture(histogramOf(margins.multiclass, "lead of the true class"), "Histogram of multiclass margins"),
      ),
    );
  if (margins.columns)
    graphs.push(
      el(
        "figure",
        {},
        el(
          "figcaption",
          {},
          el("h3", {}, "Margins of the columns"),
          `M(y, s) · f_s over rows and columns: ${percent(margins.columns.below_zero / margins.columns.total)} of these binary predictions are wrong.`,
        ),
        picture(histogramOf(margins.columns, "signed margin of a column"), "Histogram of the margins of the columns"),
      ),
    );
  if (graphs.length)
    section(
      "margins",
      "Margins",
      `How far predictions are from the other side, on ${data.held_out}. The outermost bars hold what is beyond.`,
      el("div", { class: "pair" }, graphs),
    );
  if (reliability)
    section(
      "reliability",
      "Reliability",
      `What probabilities are worth: on the diagonal, a prediction said to be 80 % sure is right 80 % of the time. Discs grow with the number of rows. Calibration error ${percent(reliability.calibration_error)}, log-loss ${reliability.log_loss.toFixed(4)}, Brier score ${number(reliability.brier)}.`,
      el(
        "div",
        { class: "side" },
        el("div", { class: "narrow" }, picture(reliabilityCurve(reliability), "Reliability curve")),
        table(
          ["probability", "right", "rows"],
          reliability.bins.map((bin) => [percent(bin.confidence), percent(bin.accuracy), count(bin.rows)]),
        ),
      ),
    );
  if (winner.examples.length)
    section(
      "explain",
      "Explain one row",
      winner.code
        ? `Pick one of the ${data.held_out}: its margins against every codeword, the bits that were wrong, and how the decoder still got it right, or did not.`
        : `Pick one of the ${data.held_out}: its features, and what they were worth to each class.`,
      explainer(winner),
    );
}

headline();
ranking();
if (data.race) raceSections(data.race);
comparisons();
if (data.winner) {
  codeSection(data.winner);
  answersSections(data.winner);
}
if (data.notes.length)
  section(
    "notes",
    "Notes",
    "",
    el(
      "ul",
      {},
      data.notes.map((note) => el("li", {}, note)),
    ),
  );
document.getElementById("main").replaceChildren(...sections.map(({ node }) => node));
document.getElementById("contents").append(...sections.map(({ id, title }) => el("a", { href: `#${id}` }, title)));
document.getElementById("end").append(`outputcodes ${data.version}`);
const repaint = () => {
  paintAll();
  choose(chosenRow);
};
repaint();
new ResizeObserver(repaint).observe(document.body);
