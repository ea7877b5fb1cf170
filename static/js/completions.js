// What may be typed next, below the search box: a combobox with a list that the server makes for text and caret.
// Into an empty box: recent searches, which this browser knows, and saved ones.

import { recentSearches } from "./recent.js";

const WAIT_MS = 80;
const LONGEST = 2_000; // nobody types what is longer
const RECENT_SHOWN = 6;
const box = document.getElementById("q");
const popup = document.getElementById("completions");
const status = document.getElementById("completions-status");
const recent = recentSearches(popup?.dataset.user);

let chosen = -1;
let dismissed = null; // the text for which the list was sent away
let timer = 0;
let asking = new AbortController();

const list = () => popup.querySelector("[role=listbox]");
const options = () => [...popup.querySelectorAll("[role=option]")];
const isOpen = () => !popup.hidden;

// The server counts characters, the browser half ones.
const characters = (text) => [...text].length;
const units = (text, count) => [...text].slice(0, count).join("").length;
const caret = () => characters(box.value.slice(0, box.selectionStart));

const close = () => {
  clearTimeout(timer);
  asking.abort();
  popup.hidden = true;
  popup.replaceChildren();
  chosen = -1;
  status.textContent = "";
  box.setAttribute("aria-expanded", "false");
  box.setAttribute("aria-controls", "results");
  box.removeAttribute("aria-activedescendant");
};

const mark = (index) => {
  const all = options();
  chosen = index;
  all.forEach((option, place) => option.setAttribute("aria-selected", String(place === index)));
  if (index < 0) {
    box.removeAttribute("aria-activedescendant");
    return;
  }
  box.setAttribute("aria-activedescendant", all[index].id);
  all[index].scrollIntoView({ block: "nearest" });
};

/** Put the recent searches into their place in the list for an empty box. */
const addRecent = () => {
  const group = popup.querySelector("[data-recent]");
  const searches = recent.all().slice(0, RECENT_SHOWN);
  if (!group) return;
  if (!searches.length) return group.remove();
  group.hidden = false;
  for (const search of searches) {
    const option = popup.querySelector("[data-recent-option]").content.firstElementChild.cloneNode(true);
    option.dataset.text = search;
    option.querySelector("bdi").textContent = search;
    group.querySelector("[data-forget]").before(option);
  }
};

const show = (html, isWanted) => {
  popup.innerHTML = html;
  addRecent();
  const all = options();
  const count = all.length;
  if (!count || (!isWanted && list().hasAttribute("data-waits"))) return close();
  all.forEach((option, place) => (option.id = `completion-${place + 1}`));
  popup.hidden = false;
  popup.scrollTop = 0;
  box.setAttribute("aria-expanded", "true");
  box.setAttribute("aria-controls", "completions-list");
  mark(-1);
  status.textContent = `${count} suggestion${count === 1 ? "" : "s"}, ${list().getAttribute("aria-label")}`;
};

const ask = async (isWanted = false) => {
  asking.abort();
  asking = new AbortController();
  const query = box.value;
  const at = caret();
  const isStale = () => box.value !== query || caret() !== at || document.activeElement !== box || dismissed === query;
  if (isStale() || query.length > LONGEST) return close();
  try {
    const address = `${popup.dataset.url}?${new URLSearchParams({ q: query, at })}`;
    const answer = await fetch(address, { signal: asking.signal, headers: { "HX-Request": "true" } });
    const html = answer.ok && !answer.redirected ? await answer.text() : "";
    if (!isStale()) show(html, isWanted);
  } catch {
    // Replaced by a newer question, or no answer at all: the search itself says so.
  }
};

/** Put a text in the place of the piece that the list is about, as if it had been typed: undo takes it back. */
const insert = (text) => {
  const { start, end } = list().dataset;
  const [from, to] = [units(box.value, Number(start)), units(box.value, Number(end))];
  close();
  box.setSelectionRange(from, to);
  if (document.execCommand("insertText", false, text)) return;
  box.setRangeText(text, from, to, "end");
  box.dispatchEvent(new Event("input", { bubbles: true }));
};

const choose = ({ dataset }) => {
  if ("forget" in dataset) {
    recent.clear();
    close();
    status.textContent = "Recent searches cleared";
  } else if (dataset.href) {
    close();
    location.assign(dataset.href);
  } else {
    insert(dataset.text);
    if (!("goesOn" in dataset)) dismissed = box.value; // this piece is complete
  }
};

const step = (by) => {
  const count = options().length + 1; // the box itself is one of the stops
  mark(((chosen + 1 + by + count) % count) - 1);
};

const KEYS = {
  ArrowDown: () => (isOpen() ? step(1) : ask(true)),
  ArrowUp: () => isOpen() && step(-1),
  Enter: () => chosen >= 0 && choose(options()[chosen]),
  Tab: () => chosen >= 0 && choose(options()[chosen]),
  Escape: () => {
    if (!isOpen()) return false;
    dismissed = box.value;
    close();
  },
};

if (box && popup) {
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-haspopup", "listbox");
  close();

  box.addEventListener("input", () => {
    if (dismissed !== box.value) dismissed = null;
    asking.abort();
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  });

  box.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const run = KEYS[event.key];
    if (!run) return;
    if (run() !== false) event.preventDefault();
    else if (event.key === "Enter" || event.key === "Tab") close();
  });

  // Moved within the text, the caret may stand in something else.
  document.addEventListener("selectionchange", () => {
    if (!isOpen() || document.activeElement !== box) return;
    if (caret() !== Number(list().dataset.caret)) ask();
  });

  box.addEventListener("blur", close);
  for (const name of ["focus", "click"]) {
    box.addEventListener(name, () => !box.value && !isOpen() && ask());
  }
  popup.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus
  popup.addEventListener("click", ({ target }) => {
    const option = target.closest("[role=option]");
    if (option) choose(option);
  });

  // A search was of use when it was sent, or when something it found was opened.
  box.form.addEventListener("submit", () => recent.add(box.value));
  document.getElementById("results").addEventListener("click", ({ target }) => {
    if (target.closest(".hit a")) recent.add(box.value);
  });
}
