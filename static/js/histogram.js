// Bars of the histogram: dragging over some of them narrows the period to these, arrow keys go from bar to bar so that
// all together are one stop for Tab.

const DRAGGED = 5; // fewer pixels are a click
const results = document.getElementById("results");
let drag = null;
let wasDragged = false;

const chart = () => document.querySelector(".histogram-chart");
const bars = () => [...chart().querySelectorAll(".histogram-bar")];
const links = () => [...chart().querySelectorAll("a.histogram-bar")];

const barAt = (clientX) => {
  const all = bars();
  const { left, width } = chart().getBoundingClientRect();
  const place = Math.floor(((clientX - left) / width) * all.length);
  return Math.min(Math.max(place, 0), all.length - 1);
};

const choose = (from, to) => {
  const [low, high] = [Math.min(from, to), Math.max(from, to)];
  bars().forEach((bar, place) => bar.classList.toggle("is-chosen", place >= low && place <= high));
  return [low, high];
};

const narrow = ([low, high]) => {
  const figure = document.getElementById("histogram");
  const address = new URL(figure.dataset.rangeUrl, location.href);
  address.searchParams.set("after", bars()[low].dataset.after);
  address.searchParams.set("before", bars()[high].dataset.before);
  window.htmx.ajax("GET", address.pathname + address.search, { source: figure, target: results, swap: "innerHTML" });
};

document.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || !event.target.closest?.(".histogram-chart")) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  wasDragged = false;
  drag = { x: event.clientX, from: barAt(event.clientX), range: null };
});

document.addEventListener("pointermove", (event) => {
  if (!drag || !chart()) return;
  if (!drag.range && Math.abs(event.clientX - drag.x) < DRAGGED) return;
  drag.range = choose(drag.from, barAt(event.clientX));
});

document.addEventListener("pointerup", () => {
  if (drag?.range && chart()) {
    wasDragged = true;
    narrow(drag.range);
  }
  drag = null;
});

const stop = () => {
  drag = null;
  for (const bar of document.querySelectorAll(".histogram-bar.is-chosen")) bar.classList.remove("is-chosen");
};

document.addEventListener("pointercancel", stop);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && drag) stop();
});

// The browser would drag the link itself, and a drag that ends on the bar where it began would follow it.
document.addEventListener("dragstart", (event) => {
  if (event.target.closest?.(".histogram-chart")) event.preventDefault();
});
document.addEventListener(
  "click",
  (event) => {
    if (!wasDragged || !event.target.closest?.(".histogram-chart")) return;
    wasDragged = false;
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);

// One stop for Tab; the arrow keys, Home and End go on from there.
const rove = (current) => {
  for (const link of links()) link.setAttribute("tabindex", link === current ? "0" : "-1");
};

const STEPS = { ArrowLeft: (at) => at - 1, ArrowRight: (at) => at + 1, Home: () => 0, End: (at, all) => all - 1 };

document.addEventListener("keydown", (event) => {
  const bar = event.target.closest?.("a.histogram-bar");
  const step = STEPS[event.key];
  if (!bar || !step || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const all = links();
  const next = all[Math.min(Math.max(step(all.indexOf(bar), all.length), 0), all.length - 1)];
  event.preventDefault();
  rove(next);
  next.focus();
});

const prepare = () => {
  if (chart() && links().length) rove(links()[0]);
};

document.body.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (detail.target === results) prepare();
});
document.body.addEventListener("htmx:historyRestore", prepare);
prepare();
