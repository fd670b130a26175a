// Forms opened in their place, names suggested while one types, and the place kept after a change.
"use strict";

let opener = null; // the link whose form is open

function close() {
  document.querySelector(".inline")?.remove();
  opener?.focus();
  opener = null;
}

// Show the form of a link below the row of the link. Without it, the link leads to its page.
async function open(link) {
  const part = await fetchPart(`${link.href}&part=1`).catch(() => null);
  if (part === null) {
    location.assign(link.href);
    return;
  }
  close();
  const box = document.createElement("div");
  box.className = "inline card";
  box.append(...part.childNodes);
  (link.closest("li") ?? link.parentElement).append(box);
  localise(box);
  opener = link;
  box.querySelector("textarea, input:not([type=hidden]), button")?.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-inline], .inline a[data-cancel]");
  if (link === null || event.button || event.ctrlKey || event.metaKey || event.shiftKey) {
    return;
  }
  event.preventDefault();
  if (link.matches("[data-cancel]")) {
    close();
  } else {
    open(link);
  }
});

document.addEventListener("keydown", (event) => {
  const area = event.target.closest?.(".inline textarea, .remember textarea");
  if (event.key === "Escape") {
    close();
    document.querySelector(".remember[open]")?.removeAttribute("open");
  } else if (event.key === "Enter" && area && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    area.form.requestSubmit();
  }
});

// Suggest names of entities for a field. The page of suggestions has a link with each name.
document.addEventListener("input", afterPause(async (signal, { target }) => {
  const list = document.getElementById(target.dataset.suggest ?? "");
  if (list !== null && target.value.trim() !== "") {
    const address = `/explore/suggest?q=${encodeURIComponent(target.value.trim())}`;
    const part = await fetchPart(address, signal).catch(() => null);
    const names = [...(part?.querySelectorAll("[data-name]") ?? [])].map((each) => each.dataset.name);
    list.replaceChildren(...names.map((name) => new Option(name, name)));
  }
}));

// Return to the same height of the same page after a form, and begin to write in a box that opens.
const here = location.pathname + location.search;
document.addEventListener("submit", (event) => {
  if (event.target.method === "post") {
    sessionStorage.setItem("place", JSON.stringify([here, scrollY]));
  }
});
const [page, height] = JSON.parse(sessionStorage.getItem("place") ?? "[]");
sessionStorage.removeItem("place");
if (page === here) {
  scrollTo(0, height);
}
document.querySelector(".remember")?.addEventListener("toggle", (event) => {
  event.target.querySelector("input[required]:placeholder-shown, textarea")?.focus();
});
