// What is selected: how many, and copies of all of them. Showing the bar and sending it need no script.

import { copy, pageText, say } from "./copy.js";

const bar = () => document.getElementById("selection");
const chosen = () => [...document.querySelectorAll('.hit-select input[name="ref"]:checked')];
const refs = () => chosen().map((box) => box.value);

const count = () => {
  const number = refs().length;
  const label = bar()?.querySelector(".selection-count");
  if (label) label.textContent = number ? `${number} selected` : "";
};

document.addEventListener("change", (event) => {
  if (event.target.matches?.(".hit-select input")) count();
});

document.addEventListener("reset", () => setTimeout(count));

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-selection]");
  if (!button) return;
  const named = refs();
  try {
    const address = new URL(button.dataset.address ?? "/", location.href);
    for (const ref of named) address.searchParams.append("ref", ref);
    const links = named.map((ref) => new URL(`/m/${ref}/`, location.href).href).join("\n");
    await copy(button.dataset.selection === "markdown" ? await pageText(address) : links);
    say(button, true);
  } catch {
    say(button, false);
  }
});
