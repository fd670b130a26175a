// Forms opened in their place, names suggested while one types, and the place kept after a change.
"use strict";

let opener = null; // the link whose form is open

function close() {
  document.querySelector(".inline")?.remove();
  opener?.focus();
  opener = null;
}

// Begin to write in the first empty field, or in the first one.
function begin(part) {
  const empty = [...part.querySelectorAll("input[required], textarea")].find((each) => each.value === "");
  (empty ?? part.querySelector("textarea, input:not([type=hidden]), button"))?.focus();
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
  begin(box);
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

// Count what is typed into a field that takes only so many characters. Nothing is cut.
document.addEventListener("input", ({ target }) => {
  const most = Number(target.dataset.most);
  if (most > 0) {
    const count = [...target.value].length;
    const next = target.nextElementSibling;
    const line = next?.matches(".count") ? next : document.createElement("p");
    line.className = count > most ? "count fault" : "count hint";
    line.textContent = count * 2 > most ? `${count.toLocaleString("en")} of ${most.toLocaleString("en")} characters` : "";
    target.after(line);
  }
});

// Say in a form why it is not saved. Everything that was typed stays.
function refuse(form, words, name = "") {
  form.querySelectorAll(".fault:not(.count)").forEach((each) => each.remove());
  const line = Object.assign(document.createElement("p"), { className: "fault", textContent: words });
  line.setAttribute("role", "alert");
  const field = [...form.elements].find((each) => name !== "" && each.name === name && each.type !== "hidden");
  const folded = field?.closest("details:not([open])");
  folded?.setAttribute("open", "");
  if (field === undefined) {
    form.prepend(line);
  } else {
    field.after(line);
    field.focus();
  }
}

// Send a form without leaving its page, so that its text is lost neither with the network nor with the session.
// Return whether another page is on its way.
async function send(form, submitter) {
  const fields = new FormData(form, submitter);
  fields.set("part", "1");
  const body = form.enctype === "multipart/form-data" ? fields : new URLSearchParams(fields);
  const answer = await fetch(form.action, { method: "post", body }).catch(() => null);
  const text = await answer?.text().catch(() => null);
  if (text === null || text === undefined) {
    refuse(form, "Not saved: the server cannot be reached. Your text is still here: try again.");
  } else if (answer.redirected || answer.status === 201) {
    location.assign(answer.headers.get("location") ?? answer.url);
    return true;
  } else {
    const page = new DOMParser().parseFromString(text, "text/html");
    const fault = page.querySelector("[data-fault]");
    const content = page.querySelector("main");
    if (answer.ok && content !== null) {
      document.querySelector("main").replaceWith(content);
      localise(content);
      offerCopies(content);
      scrollTo(0, 0);
    } else {
      const name = fault?.dataset.fault;
      refuse(form, `Not saved. ${fault?.textContent ?? "The server refused the form."}`, name);
      ask(form.elements[name], page.querySelector(".naming"));
    }
  }
  return false;
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.matches("main form[method=post], form.change[method=post]") && !event.defaultPrevented) {
    event.preventDefault();
    if (form.ariaBusy !== "true") {
      form.ariaBusy = "true";
      form.ariaBusy = String(await send(form, event.submitter));
    }
  }
});

// A browser can show a page again as it was when a form led away from it.
addEventListener("pageshow", () => {
  document.querySelectorAll("form[aria-busy]").forEach((form) => form.removeAttribute("aria-busy"));
});

// Ask below a field which entity its name means, or no more.
function ask(field, naming) {
  if (field?.dataset?.new) {
    field.form.querySelector(".naming")?.remove();
    document.getElementById(field.dataset.suggest).after(naming ?? "");
  }
}

// Suggest names of entities for a field. The page of suggestions has a link with each name.
const suggestNames = afterPause(async (signal, field) => {
  const given = { q: field.value.trim(), space: field.form.elements.space?.value ?? "" };
  const address = `/explore/suggest?${new URLSearchParams({ ...given, new: field.dataset.new ? field.name : "" })}`;
  const part = await fetchPart(address, signal).catch(() => null);
  if (part !== null) {
    const names = [...part.querySelectorAll("[data-name]")].map((each) => each.dataset.name);
    document.getElementById(field.dataset.suggest).replaceChildren(...names.map((name) => new Option(name, name)));
    ask(field, part.querySelector(".naming"));
  }
});
document.addEventListener("input", ({ target }) => target.dataset.suggest && suggestNames(target));

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
  begin(event.target.querySelector("form"));
});
