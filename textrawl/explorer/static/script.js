// Improvements of pages that work without a script: search while typing, one-time links, zoom.
"use strict";

const PAUSE = 200; // milliseconds without a key before a search

function searchWhileTyping(form, results) {
  let timer = 0;
  let running = null;

  async function search() {
    running?.abort();
    running = new AbortController();
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const address = new URL(form.action);
    address.search = new URLSearchParams(fields);
    const part = new URL(address);
    part.searchParams.set("part", "1");
    try {
      const answer = await fetch(part, { signal: running.signal, redirect: "error" });
      if (!answer.ok) {
        return;
      }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      results.replaceChildren(...page.body.childNodes);
      history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "AbortError") {
        form.submit(); // the session has ended, or the server is away: the page says which
      }
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE);
  });
}

const form = document.getElementById("search");
if (form !== null) {
  searchWhileTyping(form, document.getElementById("results"));
}
document.getElementById("link")?.submit();

function moveDrawing(drawing) {
  const whole = drawing.viewBox.baseVal;
  const start = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  const view = { ...start };
  let held = null;
  let moved = false;

  function show() {
    drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  }

  // Zoom by a factor, and keep the point at the shares (x, y) of the drawing where it is.
  function zoom(factor, x = 0.5, y = 0.5) {
    const width = Math.min(Math.max(view.width * factor, start.width / 20), start.width * 2);
    const height = width * (start.height / start.width);
    view.x += (view.width - width) * x;
    view.y += (view.height - height) * y;
    view.width = width;
    view.height = height;
    show();
  }

  drawing.addEventListener("wheel", (event) => {
    const box = drawing.getBoundingClientRect();
    const place = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, ...place);
    event.preventDefault();
  }, { passive: false });
  drawing.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY };
    moved = false;
  });
  drawing.addEventListener("pointermove", (event) => {
    if (held === null) {
      return;
    }
    const scale = view.width / drawing.getBoundingClientRect().width;
    const [x, y] = [event.clientX - held.x, event.clientY - held.y];
    moved = moved || Math.hypot(x, y) > 4;
    if (moved) {
      view.x -= x * scale;
      view.y -= y * scale;
      held = { x: event.clientX, y: event.clientY };
      show();
    }
  });
  addEventListener("pointerup", () => { held = null; });
  drawing.addEventListener("dragstart", (event) => event.preventDefault());
  drawing.addEventListener("click", (event) => {
    if (moved) {
      event.preventDefault(); // the end of a movement is no click on an entity
    }
  }, true);
  document.getElementById("closer").addEventListener("click", () => zoom(1 / 1.4));
  document.getElementById("farther").addEventListener("click", () => zoom(1.4));
  document.getElementById("whole").addEventListener("click", () => {
    Object.assign(view, start);
    show();
  });
  document.getElementById("tools").hidden = false;
}

const drawing = document.getElementById("graph");
if (drawing !== null) {
  moveDrawing(drawing);
}
