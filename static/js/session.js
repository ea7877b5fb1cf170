// A session: the memory that the address names comes into view; what is loaded above it does not move it.

const marked = document.querySelector("[data-anchor]");

if (marked) {
  marked.scrollIntoView({ block: "center" });
  marked.querySelector(".hit-title a")?.focus({ preventScroll: true });
}

// Rows that come in above the first visible one push it down; the page scrolls by as much.
let reference;
let place;

document.body.addEventListener("htmx:beforeSwap", (event) => {
  reference = [...document.querySelectorAll(".entry")].find((entry) => entry.getBoundingClientRect().bottom > 0);
  place = reference?.getBoundingClientRect().top;
});

document.body.addEventListener("htmx:afterSwap", () => {
  if (!reference?.isConnected) return;
  const moved = reference.getBoundingClientRect().top - place;
  if (moved) window.scrollBy({ top: moved, behavior: "instant" });
});
