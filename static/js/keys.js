// Keys of all pages. KEYS is the one table: what a key does, and what the help dialog says about it.

const SWITCH = "memweb.keys";
const help = document.getElementById("keys");
const switchBox = document.getElementById("keys-on");
const box = () => document.getElementById("q");
const hits = () => [...document.querySelectorAll(".hit")];
const link = (hit) => hit?.querySelector(".hit-title a");
const press = (selector) => document.querySelector(selector)?.click();

/** Mark a hit as the current one and focus its title, so that Enter opens it and a screen reader says it. */
export const markHit = (hit, options) => {
  for (const other of document.querySelectorAll(".hit[aria-current]")) other.removeAttribute("aria-current");
  hit.setAttribute("aria-current", "true");
  link(hit).focus(options);
};

const step = (by) => {
  const all = hits();
  if (!all.length) return;
  const now = all.findIndex((hit) => hit.hasAttribute("aria-current"));
  const next = now < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(now + by, 0), all.length - 1);
  markHit(all[next], { preventScroll: true });
  all[next].scrollIntoView({ block: "nearest" });
};

const leaveBox = () => {
  if (document.activeElement === box()) box().blur();
};

const KEYS = [
  { keys: ["/"], says: "Type in the search box", needs: "#q", run: () => (box().focus(), box().select()) },
  { keys: ["Escape"], shown: ["Esc"], says: "Leave the search box", needs: "#q", typing: true, run: leaveBox },
  { keys: ["j"], says: "Next result", needs: "#q", run: () => step(1) },
  { keys: ["k"], says: "Previous result", needs: "#q", run: () => step(-1) },
  {
    keys: ["o", "Enter"],
    says: "Open the marked result",
    needs: "#q",
    // Enter on a link or a button is already what it should be.
    unless: (event) => event.key === "Enter" && event.target !== document.body,
    run: () => link(document.querySelector(".hit[aria-current]"))?.click(),
  },
  { keys: ["n"], says: "Next page of results", needs: "#q", run: () => press("[data-key=next]") },
  { keys: ["p"], says: "First page of results", needs: "#q", run: () => press("[data-key=first]") },
  { keys: ["u"], says: "Back to the results", needs: "[data-key=back]", run: () => press("[data-key=back]") },
  { keys: ["?"], says: "Show these keys", run: () => openHelp() },
];

const applies = (entry) => !entry.needs || document.querySelector(entry.needs);

const openHelp = () => {
  const list = document.createElement("dl");
  list.className = "keys-list";
  for (const entry of KEYS.filter(applies)) {
    const row = document.createElement("div");
    const term = document.createElement("dt");
    const meaning = document.createElement("dd");
    for (const key of entry.shown ?? entry.keys) {
      const cap = document.createElement("kbd");
      cap.textContent = key;
      term.append(cap);
    }
    meaning.textContent = entry.says;
    row.append(term, meaning);
    list.append(row);
  }
  help.querySelector(".keys-list").replaceWith(list);
  help.showModal();
};

const stored = () => {
  try {
    return localStorage.getItem(SWITCH);
  } catch {
    return null;
  }
};

const isTyping = (target) =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (help.open) return;
  const entry = KEYS.find(({ keys }) => keys.includes(event.key));
  if (!entry || !applies(entry) || entry.unless?.(event)) return;
  if (isTyping(event.target) ? !entry.typing : event.key.length === 1 && !switchBox.checked) return;
  event.preventDefault();
  entry.run();
});

// Where the focus goes, the mark goes: Tab and j/k mean the same place.
document.addEventListener("focusin", ({ target }) => {
  const hit = target.closest?.(".hit");
  if (!hit || hit.hasAttribute("aria-current")) return;
  for (const other of document.querySelectorAll(".hit[aria-current]")) other.removeAttribute("aria-current");
  hit.setAttribute("aria-current", "true");
});

switchBox.checked = stored() !== "off";
switchBox.addEventListener("change", () => {
  try {
    localStorage.setItem(SWITCH, switchBox.checked ? "on" : "off");
  } catch {
    // the choice then lasts as long as the page
  }
});

for (const button of document.querySelectorAll("[data-opens=keys]")) button.addEventListener("click", openHelp);
help.addEventListener("click", (event) => {
  if (event.target === help) help.close(); // a click beside the dialog
});
