// Buttons that copy, wherever they stand and whenever they came: a text, the text of an element, an address, a page.

const announcer = document.getElementById("announcer");

export const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers have no clipboard on plain http, except on this machine.
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser refused");
};

/** Return the text of a page; an answer that is none is an error. */
export const pageText = async (address) => {
  const response = await fetch(address);
  if (!response.ok) throw new Error(await response.text());
  return response.text();
};

/** Say on the button itself, and to screen readers, whether copying worked. */
export const say = (button, done) => {
  const said = done ? "Copied" : "Not copied";
  const label = button.lastChild?.nodeType === Node.TEXT_NODE && button.lastChild;
  button.name_ ??= button.getAttribute("aria-label") ?? label.textContent.trim();
  announcer.textContent = `${button.name_}: ${said}`;
  if (label) label.textContent = said;
  else button.dataset.said = said;
  clearTimeout(button.timer_);
  button.timer_ = setTimeout(() => {
    if (label) label.textContent = button.name_;
    else delete button.dataset.said;
  }, 1500);
};

const textOf = async ({ dataset }) => {
  if (dataset.copyFrom) return document.querySelector(dataset.copyFrom).textContent;
  if (dataset.copyAddress) return new URL(dataset.copyAddress, location.href).href;
  if (dataset.copyContent) return pageText(dataset.copyContent);
  return dataset.copy;
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy], [data-copy-from], [data-copy-address], [data-copy-content]");
  if (!button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    await copy(await textOf(button));
    say(button, true);
  } catch {
    say(button, false);
  }
});
