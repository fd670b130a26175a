// The search field, the palette, keys, and the line that tells what is new. Pages work without it.
"use strict";

{ // the names here are not those of other scripts
const STILL = 1500; // milliseconds after which a page listens for what is new

const field = document.getElementById("q");
const suggestions = document.getElementById("suggestions");

function make(name, values = {}, ...children) {
  const element = Object.assign(document.createElement(name), values);
  element.append(...children);
  return element;
}

// Move the focus between the links of a list, or back to the field before its first link.
function walk(event, list, input) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) {
    return;
  }
  const stops = [input, ...list.querySelectorAll("a:not([hidden]), button:not([hidden])")];
  const place = stops.indexOf(document.activeElement) + step;
  if (stops[place] !== undefined) {
    event.preventDefault();
    stops[place].focus();
  }
}

// Call `show` with the entities for what somebody types, as a list, and only with the last answer.
function suggest(input, show) {
  input.addEventListener("input", afterPause(async (signal) => {
    const address = new URL(suggestions.dataset.from, location);
    address.searchParams.set("q", input.value);
    // Nobody waits for suggestions: the search itself says what is wrong.
    const part = await fetchPart(address, signal).catch(() => null);
    if (!signal.aborted) {
      show(part?.querySelector("ul"));
    }
  }));
}

if (field !== null && document.getElementById("results") === null) {
  suggest(field, (list) => {
    suggestions.replaceChildren(...(list && field.value ? [list] : []));
    suggestions.hidden = suggestions.childElementCount === 0;
  });
  field.form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      suggestions.hidden = true;
      field.focus();
    }
    walk(event, suggestions, field);
  });
  field.form.addEventListener("focusout", (event) => {
    suggestions.hidden = !field.form.contains(event.relatedTarget) || suggestions.hidden;
  });
}

const KEYS = [
  ["/", "search"], ["Ctrl K", "go to a page, an entity or an action"], ["j k", "next and previous fact"],
  ["e", "edit the fact"], ["a r", "accept or reject the proposal"], ["m n", "merge the pair, or not the same"],
  ["b", "keep both facts"], ["t", "still true"], ["?", "these keys"],
];

function open(label, ...children) {
  const dialog = make("dialog", { className: "palette", ariaLabel: label }, ...children);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function showKeys() {
  const rows = KEYS.map(([keys, words]) => make("div", {}, make("dt", {}, make("kbd", { textContent: keys })),
    make("dd", { textContent: words })));
  open("Keys", make("h2", { textContent: "Keys" }), make("dl", { className: "states" }, ...rows),
    make("form", { method: "dialog" }, make("button", { textContent: "Close" })));
}

function openPalette() {
  const input = make("input", { type: "search", autocomplete: "off", dir: "auto", placeholder: "Page, entity or action" });
  input.setAttribute("aria-label", input.placeholder);
  const found = make("div");
  const fixed = make("ul");
  const dialog = open("Go to", input, found, fixed);
  for (const link of document.querySelectorAll("#menu a")) {
    fixed.append(make("li", {}, make("a", { href: link.href, textContent: link.textContent })));
  }
  for (const action of document.querySelectorAll("header .tools button, header .tools summary")) {
    const button = make("button", { className: "quiet", type: "button", textContent: action.title || action.textContent.trim() });
    button.addEventListener("click", () => {
      dialog.close();
      action.click();
    });
    fixed.append(make("li", {}, button));
  }
  input.addEventListener("input", () => {
    for (const item of fixed.children) {
      item.hidden = !item.textContent.toLowerCase().includes(input.value.toLowerCase());
      item.firstChild.hidden = item.hidden;
    }
  });
  let answered = true; // false while the suggestions are those for an older text
  let entered = false; // Enter was pressed before the answer: it opens the first suggestion then
  const openFirst = () => dialog.querySelector("a:not([hidden]), button:not([hidden])")?.click();
  input.addEventListener("input", () => {
    answered = entered = false;
  });
  suggest(input, (list) => {
    found.replaceChildren(...(list && input.value ? [list] : []));
    answered = true;
    if (entered) {
      openFirst();
    }
  });
  dialog.addEventListener("keydown", (event) => {
    walk(event, dialog, input);
    if (event.key === "Escape") {
      dialog.close(); // the field alone would only become empty
    }
    if (event.key === "Enter" && event.target === input) {
      event.preventDefault();
      entered = true;
      if (answered) {
        openFirst();
      }
    }
  });
}

function findRows() {
  const rows = [...document.querySelectorAll("main .facts > li, main .row:not(.facts .row)")];
  return [rows, rows.findIndex((row) => row.contains(document.activeElement))];
}

// Put the focus on the next or the previous fact of the page.
function moveOn(step) {
  const [rows, place] = findRows();
  const row = rows[Math.min(Math.max(place + step, 0), rows.length - 1)];
  row?.setAttribute("tabindex", "-1");
  row?.focus();
}

// Press the button of the row that has a key. Then the row goes, and the next one gets the focus.
function act(key) {
  const [rows, place] = findRows();
  const wanted = `[data-key="${CSS.escape(key)}"]`;
  const button = rows[place]?.querySelector(wanted) ?? rows[place]?.closest(".group")?.querySelector(wanted);
  if (button) {
    sessionStorage.setItem("row", JSON.stringify([location.href, place]));
    button.click();
  }
}
const [last, left] = JSON.parse(sessionStorage.getItem("row") ?? "[]");
sessionStorage.removeItem("row");
if (last === location.href) {
  moveOn(left + 1);
}

const ACTIONS = {
  "/": () => field?.select(),
  "?": showKeys,
  j: () => moveOn(1),
  k: () => moveOn(-1),
  e: () => document.activeElement.closest(".facts > li, .row")?.querySelector(".actions a, .actions summary, .actions button, .doing a")?.click(),
};

document.addEventListener("keydown", (event) => {
  const busy = event.target.closest("input, textarea, select, dialog, [contenteditable]") !== null;
  if (event.key === "k" && (event.ctrlKey || event.metaKey) && field !== null) {
    event.preventDefault();
    if (document.querySelector("dialog.palette[open]") === null) {
      openPalette();
    }
  } else if (!busy && !event.ctrlKey && !event.metaKey && !event.altKey && Object.hasOwn(ACTIONS, event.key)) {
    event.preventDefault();
    ACTIONS[event.key]();
  } else if (!busy && !event.repeat && !event.ctrlKey && !event.metaKey && !event.altKey) {
    act(event.key);
  }
});

// Tell how many facts are new, and by whom. A page that nobody looks at does not listen.
function listen(address) {
  const counts = new Map();
  const line = make("p", { className: "notice", hidden: true });
  line.setAttribute("role", "status");
  document.getElementById("content").prepend(line);
  let stream = null;

  function tell(event) {
    for (const [author, facts] of Object.entries(JSON.parse(event.data))) {
      counts.set(author, (counts.get(author) ?? 0) + facts);
    }
    const words = [...counts].map(([author, facts]) => `${facts} new ${facts === 1 ? "fact" : "facts"} by ${author}`);
    line.replaceChildren(make("span", { textContent: words.join(", "), dir: "auto" }),
      make("a", { href: location.href, textContent: "Show" }));
    line.hidden = false;
  }

  function rest() {
    stream?.close();
    stream = null;
  }

  function follow() {
    if (document.hidden) {
      rest();
    } else if (stream === null) {
      stream = new EventSource(address);
      stream.addEventListener("message", tell);
    }
  }

  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", rest);
  addEventListener("pageshow", follow);
  follow();
}

const live = suggestions?.dataset.live;
if (live !== undefined) {
  setTimeout(() => listen(live), STILL);
}
}
