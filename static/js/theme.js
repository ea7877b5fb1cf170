// Runs before the first paint, so that neither the wrong theme nor controls that need scripts flash up.
// The key and the values are those of Django's admin: one choice holds for both.
"use strict";
{
  const root = document.documentElement;
  const themes = ["auto", "light", "dark"];

  const remembered = () => {
    try {
      return themes.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "auto";
    } catch {
      return "auto"; // storage may be switched off
    }
  };

  const show = (theme) => {
    root.dataset.theme = theme;
    for (const button of document.querySelectorAll(".theme-choice")) {
      const label = theme === "auto" ? "Theme: as the system" : `Theme: ${theme}`;
      button.title = label;
      button.setAttribute("aria-label", label);
    }
  };

  root.classList.add("js");
  show(remembered());

  document.addEventListener("DOMContentLoaded", () => {
    show(remembered());
    for (const button of document.querySelectorAll(".theme-choice")) {
      button.addEventListener("click", () => {
        const theme = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
        try {
          localStorage.setItem("theme", theme);
        } catch {
          // the choice then lasts as long as the page
        }
        show(theme);
      });
    }
  });

  window.addEventListener("storage", () => show(remembered()));
  window.addEventListener("pageshow", () => show(remembered()));
}
