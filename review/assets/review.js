// Keys and convenience: all pages work without.
"use strict";
(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  let sent = false; // a form is on its way; a second key would judge what is not seen yet

  // What was just done is said again, so that screen readers tell it.
  const said = document.querySelector(".said");
  if (said && said.textContent) {
    setTimeout(() => { document.getElementById("live").textContent = said.textContent; }, 100);
  }
  for (const hint of all(".keys-hint, [data-opens]")) hint.hidden = false;
  for (const form of all("form[method=post]")) {
    form.addEventListener("submit", (event) => {
      if (sent) event.preventDefault();
      sent = true;
    });
  }
  window.addEventListener("pageshow", () => { sent = false; });
  for (const button of all("[data-opens]")) {
    button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
  }

  // The difference after, or before, the one that was gone to, else the first on the screen.
  let at = -1;
  const differences = all("tr.difference");
  function go(by) {
    if (differences.length === 0) return;
    if (at < 0) {
      const below = differences.findIndex((row) => row.getBoundingClientRect().top > 0);
      at = by > 0 ? (below < 0 ? differences.length - 1 : below) : (below < 0 ? differences.length : below) - 1;
    } else {
      at += by;
    }
    at = Math.min(differences.length - 1, Math.max(0, at));
    for (const row of differences) row.removeAttribute("aria-current");
    const row = differences[at];
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "center" });
    const link = row.querySelector("td.jump > *");
    link.tabIndex = 0;
    link.focus({ preventScroll: true });
  }

  function fold() {
    const folds = all("details.fold");
    const open = folds.some((f) => !f.open);
    for (const f of folds) f.open = open;
  }

  function press(control) {
    if (control.matches("textarea")) control.focus();
    else if (!control.disabled) control.click();
  }

  const keys = new Map(all("[data-key]").map((control) => [control.dataset.key, () => press(control)]));
  if (differences.length > 0) {
    keys.set("d", () => go(1));
    keys.set("D", () => go(-1));
    if (!keys.has("n")) keys.set("n", () => go(1));
    keys.set("p", () => go(-1));
  }
  keys.set("o", fold);

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest("input, textarea, select, [contenteditable]")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    const run = keys.get(event.key);
    if (run && !sent) {
      event.preventDefault();
      run();
    }
  });
})();
