// Folders of the file facet: a first click fetches what lies below (htmx), later ones fold and unfold it. What is
// unfolded stays so when the results change, and a list that was opened has the focus. The panel itself is a fold only
// where the screen is narrow.

const results = document.getElementById("results");
const wide = matchMedia("(min-width: 56.01rem)");
const unfolded = new Set();

const below = (fold) => fold.closest(".facet-row").querySelector(".facet-below");

const show = (fold, isOpen) => {
  fold.setAttribute("aria-expanded", String(isOpen));
  below(fold).hidden = !isOpen;
  if (isOpen) unfolded.add(fold.id);
  else unfolded.delete(fold.id);
};

// Before htmx hears of it: what is there already is not fetched again.
document.addEventListener(
  "click",
  (event) => {
    const fold = event.target.closest?.(".facet-fold");
    if (!fold || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (!below(fold).childElementCount) return;
    event.preventDefault();
    event.stopPropagation();
    show(fold, fold.getAttribute("aria-expanded") !== "true");
  },
  true,
);

// Beside the results the panel is always there; above them, on narrow screens, it waits to be opened.
const place = () => {
  const panel = document.getElementById("facets");
  if (panel && wide.matches) panel.open = true;
};

wide.addEventListener("change", () => {
  const panel = document.getElementById("facets");
  if (panel) panel.open = wide.matches;
});
place();

const unfoldAgain = (root) => {
  for (const fold of root.querySelectorAll(".facet-fold")) {
    if (unfolded.has(fold.id) && !below(fold).childElementCount) fold.click();
  }
};

document.body.addEventListener("htmx:afterSettle", (event) => {
  const { elt, target, requestConfig } = event.detail;
  const asked = requestConfig?.elt;
  if (target?.matches?.(".facet-below")) {
    if (asked?.isConnected) show(asked, true);
    unfoldAgain(target);
  } else if (target === results) {
    place();
    unfoldAgain(results);
  } else if (asked?.id?.endsWith("-all") && elt.matches?.(".facet")) {
    (elt.querySelector("input[type=search]") ?? elt.querySelector("h2")).focus();
  }
});
