// The drawing of a graph: move and zoom it by mouse, fingers, keys and buttons.
"use strict";

const STEP = 1.4; // of a zoom by a key or a button
const READABLE = 0.64; // pixels of a unit of the drawing at which names can be read
const REST = 150; // milliseconds without a movement before the drawing is painted again

function moveDrawing(canvas, drawing) {
  const whole = readBox(drawing.viewBox.baseVal);
  const view = { ...whole };
  const painted = { ...whole };
  const held = new Map(); // the pointers that are down, by their ids
  let box = canvas.getBoundingClientRect();
  let frame = 0;
  let timer = 0;
  let moved = false;

  function readBox({ x, y, width, height }) {
    return { x, y, width, height };
  }

  // Move what is painted, which is quick. The browser paints 500 entities only after the movement.
  function show() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      const scale = box.width / view.width;
      const [x, y] = [(painted.x - view.x) * scale, (painted.y - view.y) * scale];
      drawing.style.transform = `translate(${x}px, ${y}px) scale(${painted.width / view.width})`;
    });
    clearTimeout(timer);
    timer = setTimeout(paint, REST);
  }

  function paint() {
    cancelAnimationFrame(frame);
    frame = 0;
    Object.assign(painted, view);
    drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    drawing.style.transform = "none";
  }

  // Look at a part of the drawing with the given width around a point.
  function look(width, x, y) {
    const least = whole.width / 20;
    view.width = Math.min(Math.max(width, least), 2 * fit());
    view.height = view.width * (box.height / box.width);
    view.x = x - view.width / 2;
    view.y = y - view.height / 2;
    show();
  }

  // The width at which the whole drawing is visible.
  function fit() {
    return Math.max(whole.width, whole.height * (box.width / box.height));
  }

  function showAll() {
    look(fit(), whole.x + whole.width / 2, whole.y + whole.height / 2);
  }

  // Zoom by a factor, and keep the point at the shares (x, y) of the drawing where it is.
  function zoom(factor, x = 0.5, y = 0.5) {
    const [fixedX, fixedY] = [view.x + view.width * x, view.y + view.height * y];
    look(view.width * factor, 0, 0);
    view.x = fixedX - view.width * x;
    view.y = fixedY - view.height * y;
  }

  // Move by shares of the visible part.
  function move(right, down) {
    view.x += view.width * right;
    view.y += view.height * down;
    show();
  }

  // The shares of the drawing at which a pointer is.
  function find(pointer) {
    return [(pointer.x - box.left) / box.width, (pointer.y - box.top) / box.height];
  }

  function follow(event) {
    const before = held.get(event.pointerId);
    const now = { x: event.clientX, y: event.clientY };
    const other = [...held.entries()].find(([id]) => id !== event.pointerId)?.[1];
    moved ||= Math.hypot(now.x - before.x, now.y - before.y) > 4 || other !== undefined;
    if (!moved) {
      return;
    }
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, now);
    const part = other === undefined ? 1 : 2; // the middle of two fingers moves by half
    move((before.x - now.x) / box.width / part, (before.y - now.y) / box.height / part);
    if (other !== undefined) {
      const [old, fresh] = [before, now].map(({ x, y }) => Math.hypot(x - other.x, y - other.y));
      const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
      zoom(Math.max(old, 1) / Math.max(fresh, 1), ...find(middle));
    }
  }

  const keys = {
    ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0),
    ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1),
    "+": () => zoom(1 / STEP), "=": () => zoom(1 / STEP), "-": () => zoom(STEP), 0: showAll,
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.key in keys && !event.ctrlKey && !event.metaKey && !event.altKey) {
      keys[event.key]();
      event.preventDefault();
    }
  });
  canvas.addEventListener("wheel", (event) => {
    box = canvas.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, ...find({ x: event.clientX, y: event.clientY }));
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    box = canvas.getBoundingClientRect();
    moved = held.size > 0;
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held.has(event.pointerId)) {
      follow(event);
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, (event) => held.delete(event.pointerId));
  }
  canvas.addEventListener("dragstart", (event) => event.preventDefault());
  canvas.addEventListener("click", (event) => {
    if (moved && event.detail > 0) {
      event.preventDefault(); // the end of a movement is no click on an entity, but a key is one
    }
  }, true);
  canvas.addEventListener("focusin", (event) => {
    const circle = event.target.querySelector?.("a > circle");
    const [x, y] = circle ? [circle.cx.baseVal.value, circle.cy.baseVal.value] : [view.x, view.y];
    const inside = x >= view.x && x <= view.x + view.width && y >= view.y && y <= view.y + view.height;
    if (!inside) {
      look(view.width, x, y);
    }
  });
  document.getElementById("closer").addEventListener("click", () => zoom(1 / STEP));
  document.getElementById("farther").addEventListener("click", () => zoom(STEP));
  document.getElementById("whole").addEventListener("click", showAll);
  document.getElementById("tools").hidden = false;

  canvas.classList.add("live");
  box = canvas.getBoundingClientRect();
  const narrow = box.width < fit() * READABLE;
  if (narrow && canvas.classList.contains("few")) {
    zoom((1.25 * fit()) / view.width); // with space for the longer names
  } else if (narrow) {
    const first = drawing.querySelector(".first");
    look(box.width / READABLE, first.cx.baseVal.value, first.cy.baseVal.value);
  } else {
    showAll();
  }
  paint();
}

const drawing = document.getElementById("graph");
if (drawing !== null) {
  moveDrawing(drawing.parentElement, drawing);
}
