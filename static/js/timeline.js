// The timeline: the anchor comes into view, and stays where it is while more is shown around it.

const timeline = document.getElementById("timeline");
const anchor = () => timeline.querySelector("[data-anchor]");
const top = () => anchor()?.getBoundingClientRect().top;

if (!location.hash && anchor()) {
  anchor().scrollIntoView({ block: "center" });
  const link = anchor().querySelector(".hit-title a") ?? anchor();
  link.focus({ preventScroll: true });
}

let before;
let pressed;

document.body.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target !== timeline) return;
  before = top();
  pressed = event.detail.requestConfig?.elt?.id;
});

document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target !== timeline || before === undefined) return;
  window.scrollBy({ top: top() - before, behavior: "instant" });
  // The button was replaced; whoever pressed it by keyboard goes on from the new one.
  document.getElementById(pressed)?.focus({ preventScroll: true });
});
