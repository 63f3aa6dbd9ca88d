// Pictures of the data, each a function of the data and a width.

function axes(width, height, box, { x, y, xTicks, yTicks, xFormat, yFormat, xTitle, yTitle }) {
  return svg(
    "g",
    { class: "axes" },
    yTicks.map((t) => [
      svg("line", { x1: box.left, x2: width - box.right, y1: y(t), y2: y(t) }),
      svg("text", { x: box.left - 6, y: y(t) + 4, "text-anchor": "end" }, yFormat(t)),
    ]),
    xTicks.map((t) => svg("text", { x: x(t), y: height - box.bottom + 17, "text-anchor": "middle" }, xFormat(t))),
    svg("line", {
      class: "base",
      x1: box.left,
      x2: width - box.right,
      y1: height - box.bottom,
      y2: height - box.bottom,
    }),
    svg(
      "text",
      { class: "name", x: (box.left + width - box.right) / 2, y: height - 6, "text-anchor": "middle" },
      xTitle,
    ),
    svg("text", { class: "name", x: box.left - 34, y: 11, "text-anchor": "start" }, yTitle),
  );
}

function timeAgainstError(rows, name, format, short, choose) {
  return (width) => {
    const height = clamp(width * 0.5, 260, 400);
    const box = { left: 48, right: 18, top: 24, bottom: 44 };
    const times = rows.map((row) => Math.max(row.fit_seconds, 1e-6));
    const low = Math.min(...times) / 1.4,
      high = Math.max(...times) * 1.4;
    const errors = rows.map((row) => row.error);
    const top = Math.max(...errors) * 1.08 || 1,
      least = Math.min(...errors) / 1.2;
    // One that is far worse would press all others to the floor.
    const wide = least > 0 && top > 8 * least;
    const place = logarithmic(low, high, box.left, width - box.right);
    const x = (time) => place(Math.max(time, 1e-6));
    const y = (wide ? logarithmic : linear)(wide ? least : 0, top, height - box.bottom, box.top);
    const front = rows.filter((row) => row.frontier).sort((a, b) => a.fit_seconds - b.fit_seconds || b.error - a.error);
    const path = front
      .map((row, i) => `${i ? "L" : "M"}${x(row.fit_seconds).toFixed(1)} ${y(row.error).toFixed(1)}`)
      .join("");
    const taken = rows.map((row) => [x(row.fit_seconds) - 5, y(row.error) - 5, 10, 10]);
    const label = (row) => {
      const text = name(row),
        w = text.length * 6.1,
        cx = x(row.fit_seconds),
        cy = y(row.error);
      const right = cx + 10 + w < width - box.right;
      for (const dy of [-8, 16, -22, 30]) {
        const area = [right ? cx + 8 : cx - 8 - w, cy + dy - 10, w, 13];
        const clash = taken.some(
          (b) => area[0] < b[0] + b[2] && b[0] < area[0] + area[2] && area[1] < b[1] + b[3] && b[1] < area[1] + area[3],
        );
        if (clash || area[0] < 0 || area[1] < 8 || area[1] + 13 > height - box.bottom) continue;
        taken.push(area);
        return svg(
          "text",
          { class: "label", x: right ? cx + 8 : cx - 8, y: cy + dy, "text-anchor": right ? "start" : "end" },
          text,
        );
      }
      return null;
    };
    const mark = (row) => {
      const cx = x(row.fit_seconds),
        cy = y(row.error);
      const common = {
        class: `mark ${row.frontier ? "front" : ""}`,
        "data-rank": row.rank,
        onclick: () => choose(row),
      };
      const title = svg("title", {}, `${name(row)}: ${format(row.error)} in ${seconds(row.fit_seconds)}`);
      return row.code
        ? svg("circle", { ...common, cx, cy, r: 5 }, title)
        : svg(
            "rect",
            { ...common, x: cx - 4.5, y: cy - 4.5, width: 9, height: 9, transform: `rotate(45 ${cx} ${cy})` },
            title,
          );
    };
    return svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart" },
      axes(width, height, box, {
        x,
        y,
        xTicks: decades(low, high),
        yTicks: wide ? decades(least, top) : ticks(0, top),
        xFormat: seconds,
        yFormat: short,
        xTitle: `training time${rows[0].fold_errors.length > 1 ? " of a fold" : ""}, logarithmic`,
        yTitle: `${data.metric}${wide ? ", logarithmic" : ""}`,
      }),
      svg("path", { class: "frontline", d: path }),
      rows.filter((row) => !row.frontier).map(mark),
      front.map(mark),
      front
        .filter((row, i) => !i || row.error !== front[i - 1].error || row.fit_seconds !== front[i - 1].fit_seconds)
        .reverse()
        .map(label),
    );
  };
}

function histogramOf(data, xTitle) {
  return (width) => {
    const height = 230,
      box = { left: 48, right: 14, top: 24, bottom: 44 };
    const low = data.edges[0],
      high = data.edges.at(-1),
      most = Math.max(...data.counts) / data.total;
    const x = linear(low, high, box.left, width - box.right),
      y = linear(0, most, height - box.bottom, box.top);
    const bars = data.counts.map((n, i) => {
      const left = x(data.edges[i]),
        right = x(data.edges[i + 1]),
        upper = y(n / data.total);
      return svg(
        "rect",
        {
          class: data.edges[i + 1] <= 0 ? "wrong" : "right",
          x: left + 0.5,
          y: upper,
          width: Math.max(0.5, right - left - 1),
          height: height - box.bottom - upper,
        },
        svg("title", {}, `${number(data.edges[i])} to ${number(data.edges[i + 1])}: ${count(n)}`),
      );
    });
    return svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart" },
      axes(width, height, box, {
        x,
        y,
        xTicks: ticks(low, high, width / 90),
        yTicks: ticks(0, most, 4),
        xFormat: (t) => number(t),
        yFormat: (t) => percent(t, most < 0.04 ? 1 : 0),
        xTitle,
        yTitle: "share",
      }),
      bars,
      svg("line", { class: "zero", x1: x(0), x2: x(0), y1: box.top, y2: height - box.bottom }),
    );
  };
}

function reliabilityCurve(data) {
  return (width) => {
    const height = Math.min(width, 340),
      box = { left: 48, right: 14, top: 24, bottom: 44 };
    const total = sum(data.bins.map((bin) => bin.rows)),
      most = Math.max(...data.bins.map((bin) => bin.rows));
    const x = linear(0, 1, box.left, width - box.right),
      y = linear(0, 1, height - box.bottom, box.top);
    const path = data.bins.map((bin, i) => `${i ? "L" : "M"}${x(bin.confidence)} ${y(bin.accuracy)}`).join("");
    return svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart" },
      axes(width, height, box, {
        x,
        y,
        xTicks: ticks(0, 1),
        yTicks: ticks(0, 1),
        xFormat: (t) => percent(t, 0),
        yFormat: (t) => percent(t, 0),
        xTitle: "probability of the prediction",
        yTitle: "right",
      }),
      svg("line", { class: "ideal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
      svg("path", { class: "curve", d: path }),
      data.bins.map((bin) =>
        svg(
          "circle",
          { class: "bubble", cx: x(bin.confidence), cy: y(bin.accuracy), r: 3 + 9 * Math.sqrt(bin.rows / most) },
          svg(
            "title",
            {},
            `said ${percent(bin.confidence)}, right ${percent(bin.accuracy)}, ${count(bin.rows)} of ${count(total)} rows`,
          ),
        ),
      ),
    );
  };
}

// Cells of one sign as one path: a run of cells is one rectangle.
function runs(rows, sign, cell, high) {
  let path = "";
  rows.forEach((row, r) => {
    for (let s = 0; s < row.length; s++) {
      if (row[s] !== sign) continue;
      const from = s;
      while (row[s + 1] === sign) s++;
      path += `M${from * cell} ${r * high}h${(s + 1 - from) * cell}v${high}h${(from - s - 1) * cell}z`;
    }
  });
  return path;
}

// Names that begin alike differ at their ends: what is too long is cut between.
const shorten = (text, length) => {
  const kept = Math.ceil(0.6 * (length - 1));
  return text.length > length ? `${text.slice(0, kept)}…${text.slice(kept + 1 - length)}` : text;
};

// The code with the error of each column above it.
function codePicture(code, columns, classes) {
  return (width) => {
    const names = classes.length <= 60,
      longest = names ? Math.min(14, Math.max(...classes.map((c) => c.length))) : 0;
    const left = Math.max(46, longest * 7.2 + 12),
      top = 84,
      foot = 26;
    const cell = clamp((width - left - 2) / code.L, 3, 30),
      high = names ? 17 : clamp(600 / code.k, 2, 17);
    const total = left + cell * code.L + 2,
      height = top + high * code.k + foot;
    const worst = Math.max(0.02, ...columns.error);
    const y = linear(0, worst, top - 8, 20);
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((m) => m * cell >= 26) || 2000;
    return svg(
      "svg",
      { viewBox: `0 0 ${total} ${height}`, width: total, height, class: "chart code" },
      svg("text", { class: "name", x: 0, y: 11 }, "error of each column"),
      ticks(0, worst, 2).map((t) => [
        svg("line", { class: "grid", x1: left, x2: total - 2, y1: y(t), y2: y(t) }),
        svg("text", { x: left - 6, y: y(t) + 4, "text-anchor": "end" }, percent(t, worst < 0.04 ? 1 : 0)),
      ]),
      columns.error.map((error, s) =>
        svg(
          "rect",
          {
            class: "column",
            x: left + s * cell + cell * 0.12,
            width: cell * 0.76,
            y: y(error),
            height: top - 8 - y(error),
          },
          svg("title", {}, `column ${s}: error ${percent(error)} on ${count(columns.rows[s])} rows`),
        ),
      ),
      svg(
        "g",
        { transform: `translate(${left} ${top})`, "shape-rendering": "crispEdges" },
        svg("path", { class: "plus", d: runs(code.matrix, "+", cell, high) }),
        svg("path", { class: "minus", d: runs(code.matrix, "-", cell, high) }),
        cell >= 6
          ? svg("path", {
              class: "gaps",
              d: range(code.L + 1)
                .map((s) => `M${s * cell} 0V${high * code.k}`)
                .join(""),
            })
          : null,
        high >= 8
          ? svg("path", {
              class: "gaps",
              d: range(code.k + 1)
                .map((r) => `M0 ${r * high}H${cell * code.L}`)
                .join(""),
            })
          : null,
      ),
      names
        ? classes.map((c, r) =>
            svg(
              "text",
              { x: left - 6, y: top + (r + 0.5) * high + 4, "text-anchor": "end" },
              shorten(c, 14),
              svg("title", {}, wholeName(c)),
            ),
          )
        : null,
      range(Math.ceil(code.L / step)).map((i) =>
        svg("text", { x: left + (i * step + 0.5) * cell, y: height - 10, "text-anchor": "middle" }, String(i * step)),
      ),
    );
  };
}

// A table whose cells are coloured by value: share in [-1, 1], blue is good, orange is not.
function heat(rowNames, columnNames, cell) {
  const tiny = columnNames.length > 24;
  return el(
    "div",
    { class: "scroll" },
    el(
      "table",
      { class: tiny ? "heat tiny" : "heat" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("td", { class: "corner" }),
          columnNames.map((name) =>
            el("th", { scope: "col", title: wholeName(name) }, tiny ? (name.length < 3 ? name : "") : shorten(name, 14)),
          ),
        ),
      ),
      el(
        "tbody",
        {},
        rowNames.map((name, r) =>
          el(
            "tr",
            {},
            el("th", { scope: "row", title: wholeName(name) }, shorten(name, 18)),
            columnNames.map((_, c) => {
              const { text, share, title, strong } = cell(r, c);
              return el(
                "td",
                {
                  class: `${share < 0 ? "bad" : "good"}${strong ? " strong" : ""}`,
                  title,
                  style: { "--share": `${Math.round(100 * Math.abs(share))}%` },
                },
                tiny ? "" : text,
              );
            }),
          ),
        ),
      ),
    ),
  );
}

function bars(groups, rows, format, choose) {
  const most =
    Math.max(...groups.flatMap((group) => group.rows.map((i) => (rows[i].interval || [0, rows[i].error])[1]))) || 1;
  const decoders = [...new Set(groups.flatMap((group) => group.rows.map((i) => rows[i].decoder)))].sort();
  const several = new Set(groups.map((group) => group.learner)).size > 1;
  const width = (value) => `${((100 * value) / most).toFixed(2)}%`;
  return el(
    "div",
    { class: "multiples" },
    groups.map((group) =>
      el(
        "section",
        {},
        el("h3", {}, group.code, several ? el("small", {}, group.learner) : null),
        [...group.rows]
          .sort((a, b) => decoders.indexOf(rows[a].decoder) - decoders.indexOf(rows[b].decoder))
          .map((i) => {
            const row = rows[i],
              [low, high] = row.interval || [row.error, row.error];
            return el(
              "div",
              { class: i === group.rows[0] ? "bar best" : "bar", "data-rank": row.rank, onclick: () => choose(row) },
              el("span", { class: "what", title: [row.decoder, ...row.also].join(" = ") }, row.decoder),
              el(
                "span",
                { class: "track", "aria-hidden": "true" },
                el("span", {
                  class: "full",
                  style: { width: width(row.error), "--series": `var(--series-${decoders.indexOf(row.decoder) % 8})` },
                }),
                el("span", { class: "whisker", style: { left: width(low), width: width(high - low) } }),
              ),
              el("span", { class: "value" }, format(row.error)),
            );
          }),
      ),
    ),
  );
}
