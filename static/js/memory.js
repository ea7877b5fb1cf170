// The page of a memory: a way back that keeps the place in the results.

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
