// What the search page adds to htmx: the box follows the results, results are announced, a way back is remembered.

const OPENED = "memweb.opened";
const box = document.getElementById("q");
const results = document.getElementById("results");
const problem = document.getElementById("search-problem");
const announcer = document.getElementById("announcer");

const isOurs = (event) => event.detail.target === results;

const say = (text) => {
  problem.textContent = text;
  problem.hidden = text === "";
};

/** Bring what lies outside the results in step with them. */
const follow = () => {
  const { query, status } = results.querySelector(".results").dataset;
  if (document.activeElement !== box) box.value = query;
  announcer.textContent = status;
};

// htmx takes every click on its links; a click that opens a new tab is the browser's.
document.addEventListener(
  "click",
  (event) => {
    const special = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (special && event.target.closest?.("a[hx-get]")) event.stopPropagation();
  },
  true,
);

let openFolds = [];
let paged = false;
let hadFocus = false;

document.body.addEventListener("htmx:beforeRequest", (event) => {
  if (isOurs(event)) paged = event.detail.elt.matches(".paging a");
});

document.body.addEventListener("htmx:beforeSwap", (event) => {
  if (!isOurs(event)) return;
  const { xhr, pathInfo } = event.detail;
  const answered = new URL(xhr.responseURL || location.href, location.href);
  // A redirect, such as to the sign-in page, is a page of its own and no results.
  if (answered.pathname !== new URL(pathInfo.requestPath, location.href).pathname) {
    event.detail.shouldSwap = false;
    location.reload();
    return;
  }
  // Facets come later than the results and restore their own focus.
  hadFocus = results.contains(document.activeElement) && !document.activeElement.closest(".facets");
  openFolds = [...results.querySelectorAll("details[id][open]")].map((fold) => fold.id);
});

document.body.addEventListener("htmx:afterSwap", (event) => {
  if (!isOurs(event)) return;
  for (const id of openFolds) document.getElementById(id)?.setAttribute("open", "");
});

document.body.addEventListener("htmx:afterSettle", (event) => {
  if (!isOurs(event)) return;
  say("");
  follow();
  // What was pressed may be gone, such as the pill of a filter: the focus stays near it.
  const isLost = hadFocus && document.activeElement === document.body;
  if (paged || isLost) document.getElementById("results-total")?.focus({ preventScroll: true });
});

document.body.addEventListener("htmx:historyRestore", follow);

// Typing replaces the address, a link adds one to the history, whatever the answer's headers say.
document.body.addEventListener("htmx:beforeHistoryUpdate", (event) => {
  event.detail.history.type = event.detail.requestConfig.elt === box ? "replace" : "push";
});

document.body.addEventListener("htmx:responseError", (event) => {
  if (!isOurs(event)) return;
  const { status, responseText } = event.detail.xhr;
  if ([400, 413, 414, 431].includes(status)) say("This search is too long or cannot be read. Shorten it; below are the results of the one before.");
  else if (status === 503) say(`${responseText} Below are the results of the search before.`);
  else say(`The search failed (${status}). Below are the results of the one before; the log in the terminal says why.`);
});

for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.body.addEventListener(name, (event) => {
    if (isOurs(event)) say("memweb does not answer. Is it still running? Below are the results of the search before.");
  });
}

// The way back from wherever a hit led (its memory, timeline, session): the hit has the focus again.
results.addEventListener("click", (event) => {
  const hit = event.target.closest(".hit a[href]")?.closest(".hit");
  if (hit) sessionStorage.setItem(OPENED, JSON.stringify({ address: location.href, ref: hit.dataset.ref }));
});

window.addEventListener("pageshow", (event) => {
  const cameBack = event.persisted || performance.getEntriesByType("navigation")[0]?.type === "back_forward";
  const { address, ref } = JSON.parse(sessionStorage.getItem(OPENED) ?? "{}");
  if (!cameBack || address !== location.href) return;
  // Browsers put old text back into the box; the address decides.
  box.value = results.querySelector(".results").dataset.query;
  const hit = [...results.querySelectorAll(".hit")].find((one) => one.dataset.ref === ref);
  hit?.querySelector(".hit-title a").focus({ preventScroll: true });
});
