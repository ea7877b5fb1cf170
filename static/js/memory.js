// Buttons of the memory page: copying, and a way back that keeps the place in the results.

const announcer = document.getElementById("announcer");

const copy = async (text) => {
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

for (const button of document.querySelectorAll("[data-copy], [data-copy-from]")) {
  const label = button.lastChild;
  const text = label.textContent;
  let timer;
  button.addEventListener("click", async () => {
    const source = button.dataset.copyFrom && document.querySelector(button.dataset.copyFrom);
    try {
      await copy(source ? source.textContent : button.dataset.copy);
      label.textContent = "Copied";
    } catch {
      label.textContent = "Not copied";
    }
    announcer.textContent = `${text}: ${label.textContent}`;
    clearTimeout(timer);
    timer = setTimeout(() => (label.textContent = text), 1500);
  });
}

for (const back of document.querySelectorAll("[data-key=back]")) {
  back.addEventListener("click", (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const from = document.referrer && new URL(document.referrer);
    const to = new URL(back.href);
    if (!from || from.origin !== to.origin || from.pathname !== to.pathname) return;
    event.preventDefault();
    history.back();
  });
}
