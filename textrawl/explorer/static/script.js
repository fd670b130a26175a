// Improvements of pages that work without a script: parts that follow a form, days, one-time links.
"use strict";

const LOCAL = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

// Show the exact times of a part of the page in the time zone of the browser.
function localise(part) {
  for (const time of part.querySelectorAll("time[title], time.moment")) {
    const exact = LOCAL.format(new Date(time.dateTime));
    if (time.classList.contains("moment")) {
      time.textContent = exact;
    }
    time.title = `${exact} ${ZONE}`;
  }
}
localise(document);

// Offer to copy the lines of a part of the page.
function offerCopies(part) {
  for (const text of navigator.clipboard ? part.querySelectorAll("pre.copy") : []) {
    const button = Object.assign(document.createElement("button"), { className: "plain", type: "button", textContent: "Copy" });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    });
    text.after(button);
  }
}
offerCopies(document);

// Return a part of a page, or null if the server refuses it.
async function fetchPart(address, signal) {
  const answer = await fetch(address, { signal, redirect: "error" });
  const text = await answer.text();
  return answer.ok ? new DOMParser().parseFromString(text, "text/html").body : null;
}

const PAUSE = 150; // milliseconds without a key before something is loaded

// Return a function that calls `load` after a pause. A later call aborts the one before.
function afterPause(load) {
  let timer = 0;
  let running = null;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running?.abort();
      running = new AbortController();
      load(running.signal, ...given);
    }, PAUSE);
  };
}

// Load a part of the page again while somebody changes the form that it depends on.
function followForm(form, target) {
  const load = afterPause(async (signal) => {
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const address = new URL(form.action);
    address.search = new URLSearchParams(fields);
    const part = new URL(address);
    part.searchParams.set("part", "1");
    try {
      const found = await fetchPart(part, signal);
      if (found !== null) {
        target.replaceChildren(...found.childNodes);
        localise(target);
        history.replaceState(null, "", address);
      }
    } catch (error) {
      if (error.name !== "AbortError") {
        form.submit(); // the session has ended, or the server is away: the page says which
      }
    }
  });

  // Fields of the form can be anywhere on the page.
  document.addEventListener("input", (event) => event.target.form === form && load());
}

for (const [form, target] of [["search", "results"], ["moment", "history"]]) {
  const [found, part] = [form, target].map((name) => document.getElementById(name));
  if (found !== null && part !== null) {
    followForm(found, part);
  }
}
document.getElementById("link")?.submit();

// Choose one of the days on which an entity changed. The last place of the slider means now.
function chooseDay(slider) {
  const days = slider.dataset.days.split(" ");
  const [field, range] = ["as_of", "day"].map((name) => document.getElementById(name));
  const label = document.getElementById("when");

  function tell() {
    const day = days[range.value];
    label.textContent = day === undefined ? "now" : day;
    range.setAttribute("aria-valuetext", label.textContent);
  }

  function place() {
    const later = days.findIndex((day) => field.value !== "" && day > field.value);
    range.value = later === -1 ? days.length - (field.value !== "" ? 1 : 0) : Math.max(later - 1, 0);
    tell();
  }

  range.addEventListener("input", () => {
    field.value = days[range.value] ?? "";
    tell();
  });
  field.addEventListener("input", place);
  place();
  slider.hidden = false;
}

const slider = document.getElementById("slider");
if (slider !== null) {
  chooseDay(slider);
}
