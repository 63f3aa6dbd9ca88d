// Elements, numbers and scales: everything is made of nodes and text, never of markup, so that no name can be code.

const SVG = document.getElementById("emblem").namespaceURI;

// Names that were cut to be shown, with the whole names; where one is the text of a node, its tooltip is the other.
const longNames = new Map();
const wholeName = (name) => longNames.get(name) ?? name;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, v] of Object.entries(value)) node.style.setProperty(key, v);
    else node.setAttribute(name, value === true ? "" : value);
  }
  const content = children.flat(Infinity).filter((child) => child !== null && child !== undefined);
  node.append(...content);
  const cut = content.find((child) => longNames.has(child));
  if (cut !== undefined && !attributes.title)
    if (node.namespaceURI === SVG) node.append(svg("title", {}, wholeName(cut)));
    else node.setAttribute("title", wholeName(cut));
  return node;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const sum = (values) => values.reduce((a, b) => a + b, 0);
const range = (n) => Array.from({ length: n }, (_, i) => i);
const known = (value) => value !== null && value !== undefined;
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

const count = (n) => n.toLocaleString("en").replaceAll(",", "\u202f");
const number = (x, digits = 3) =>
  (!known(x) ? "–" : Object.is(Math.abs(x), 0) ? "0" : String(Number(x.toPrecision(digits)))).replace("-", "−");
const percent = (x, digits = 1) => (known(x) ? `${(100 * x).toFixed(digits)}\u00a0%` : "–");
const seconds = (s) =>
  !known(s)
    ? "–"
    : s < 0.001
      ? `${number(1e6 * s, 2)}\u00a0µs`
      : s < 1
        ? `${number(1000 * s, 2)}\u00a0ms`
        : s < 120
          ? `${number(s, 3)}\u00a0s`
          : `${number(s / 60, 3)}\u00a0min`;
const chance = (p) => (!known(p) ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));

const linear = (low, high, from, to) => (x) => from + ((x - low) / (high - low || 1)) * (to - from);
const logarithmic = (low, high, from, to) => {
  const place = linear(Math.log(low), Math.log(high), from, to);
  return (x) => place(Math.log(x));
};

function ticks(low, high, wanted = 5) {
  const raw = (high - low || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return range(Math.max(0, Math.floor(high / step + 1e-9) - first + 1)).map((i) => (first + i) * step);
}
function decades(low, high) {
  const all = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
    for (const m of [1, 2, 5]) all.push(m * 10 ** e);
  const inside = all.filter((t) => t >= low * 0.999 && t <= high * 1.001);
  const whole = inside.filter((t) => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-6);
  return whole.length > 2 ? whole : inside;
}

// A picture is drawn at the width that it has, so that its letters are as large in a narrow window as in a wide one.
function picture(draw, label) {
  const frame = el("div", { class: "picture" });
  frame.paint = () => {
    const width = Math.floor(frame.clientWidth);
    if (!width || frame.drawn === width) return;
    frame.drawn = width;
    frame.replaceChildren(fill(draw(width), { role: "img", "aria-label": label }, []));
  };
  return frame;
}
const paintAll = () => document.querySelectorAll(".picture").forEach((frame) => frame.paint());

const table = (head, rows) =>
  el(
    "div",
    { class: "scroll" },
    el(
      "table",
      { class: "plain" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((text) => el("th", { scope: "col" }, text)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell) => el("td", {}, String(cell))),
          ),
        ),
      ),
    ),
  );
const details = (summary, ...content) => el("details", {}, el("summary", {}, summary), content);
