// Keys of all pages. KEYS is the one table: what a key does, and what the help dialog says about it.

const SWITCH = "memweb.keys";
const help = document.getElementById("keys");
const switchBox = document.getElementById("keys-on");
const box = () => document.getElementById("q");
const ROW = "[data-key-row]";
const rows = () => [...document.querySelectorAll(ROW)];
const current = () => document.querySelector(`${ROW}[aria-current]`);
const link = (row) => row?.querySelector(".hit-title a");
const act = (selector) => current()?.querySelector(selector)?.click();
const press = (selector) => document.querySelector(selector)?.click();

const mark = (row) => {
  for (const other of document.querySelectorAll(`${ROW}[aria-current]`)) other.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
};

/** Mark a row as the current one and focus its title, so that Enter opens it and a screen reader says it. */
export const markRow = (row, options) => {
  mark(row);
  link(row).focus(options);
};

const step = (by) => {
  const all = rows();
  if (!all.length) return;
  const now = all.findIndex((row) => row.hasAttribute("aria-current"));
  const next = now < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(now + by, 0), all.length - 1);
  markRow(all[next], { preventScroll: true });
  all[next].scrollIntoView({ block: "nearest" });
};

const leaveBox = () => {
  if (document.activeElement === box()) box().blur();
};

const KEYS = [
  { keys: ["/"], says: "Type in the search box", needs: "#q", run: () => (box().focus(), box().select()) },
  { keys: ["Escape"], shown: ["Esc"], says: "Leave the search box", needs: "#q", typing: true, run: leaveBox },
  { keys: ["j"], says: "Next row", needs: ROW, run: () => step(1) },
  { keys: ["k"], says: "Previous row", needs: ROW, run: () => step(-1) },
  {
    keys: ["o", "Enter"],
    says: "Open the marked row",
    needs: ROW,
    // Enter on a link or a button is already what it should be.
    unless: (event) => event.key === "Enter" && event.target !== document.body,
    run: () => link(current())?.click(),
  },
  { keys: ["t"], says: "Timeline around the marked row", needs: "[data-action=timeline]", run: () => act("[data-action=timeline]") },
  { keys: ["x"], says: "Select the marked row", needs: "[data-action=select]", run: () => act("[data-action=select]") },
  { keys: ["e"], says: "Explain why the marked row is here", needs: ".why", run: () => act(".why > summary") },
  { keys: ["s"], says: "Pin the marked row, or take its pin out", needs: "[data-action=pin]", run: () => act("[data-action=pin]") },
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
  const row = target.closest?.(ROW);
  if (row && !row.hasAttribute("aria-current")) mark(row);
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
