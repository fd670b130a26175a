// The drawing of a graph: move and zoom it, light neighbours, filter it, show an entity beside it.
"use strict";

const STEP = 1.4; // of a zoom by a key or a button
const REST = 150; // milliseconds without a movement before the drawing is painted again
const FONT = 13; // pixels of a name at every zoom
const BEAT = 160; // milliseconds of a day while the drawing grows
const WORDS = 12; // relations of an entity that are told while it is lit
const NEAREST = 6; // pixels of a unit at the closest zoom
const PAINT = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "opacity", "font-family", "font-size",
  "font-weight", "font-style", "text-anchor", "paint-order", "stroke-linejoin", "marker-end"];

const byId = (id) => document.getElementById(id);
const isWhole = () => document.fullscreenElement !== null;

// The visible part of the drawing. `painted` is called after each painting with the pixels of a unit.
function moveDrawing(canvas, drawing, painted) {
  const { width, height } = drawing.viewBox.baseVal;
  const view = { x: 0, y: 0, width, height };
  const old = { ...view };
  let box = canvas.getBoundingClientRect();
  let frame = 0;
  let timer = 0;

  // Move what is painted, which is quick. The browser paints 500 entities only after the movement.
  function show() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      const scale = box.width / view.width;
      drawing.style.transform = `translate(${(old.x - view.x) * scale}px, ${(old.y - view.y) * scale}px) scale(${old.width / view.width})`;
    });
    clearTimeout(timer);
    timer = setTimeout(paint, REST);
  }

  function paint() {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = 0;
    Object.assign(old, view);
    drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    drawing.style.transform = "none";
    painted(box.width / view.width);
  }

  // Look at a part of the drawing with the given width around a point.
  function look(wanted, x, y) {
    view.width = Math.min(Math.max(wanted, box.width / NEAREST), 2 * fit());
    view.height = view.width * (box.height / box.width);
    view.x = x - view.width / 2;
    view.y = y - view.height / 2;
    show();
  }

  // The width at which the whole drawing is visible.
  const fit = () => Math.max(width, height * (box.width / box.height));

  // Zoom by a factor, and keep the point at the shares (x, y) of the drawing where it is.
  function zoom(factor, x = 0.5, y = 0.5) {
    const [fixedX, fixedY] = [view.x + view.width * x, view.y + view.height * y];
    look(view.width * factor, 0, 0);
    view.x = fixedX - view.width * x;
    view.y = fixedY - view.height * y;
  }

  return {
    look, zoom, paint,
    showAll: () => look(fit(), width / 2, height / 2),
    // Move by shares of the visible part.
    move(right, down) {
      view.x += view.width * right;
      view.y += view.height * down;
      show();
    },
    // The shares of the drawing at which a pointer is.
    find: ({ x, y }) => [(x - box.left) / box.width, (y - box.top) / box.height],
    measure() {
      box = canvas.getBoundingClientRect();
      return box;
    },
    reveal({ x, y }) {
      const inside = x >= view.x && x <= view.x + view.width && y >= view.y && y <= view.y + view.height;
      if (!inside) {
        look(view.width, x, y);
      }
    },
  };
}

// Move the drawing with a mouse, or with two fingers. One finger scrolls the page.
function followPointers(canvas, view) {
  const held = new Map(); // the pointers that are down, by their ids
  let moved = false;

  function follow(event) {
    const before = held.get(event.pointerId);
    const now = { x: event.clientX, y: event.clientY };
    const other = [...held.entries()].find(([id]) => id !== event.pointerId)?.[1];
    const passes = event.pointerType === "touch" && other === undefined && !isWhole();
    moved ||= !passes && (Math.hypot(now.x - before.x, now.y - before.y) > 4 || other !== undefined);
    if (!moved || passes) {
      return;
    }
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, now);
    const { width, height } = view.measure();
    const part = other === undefined ? 1 : 2; // the middle of two fingers moves by half
    view.move((before.x - now.x) / width / part, (before.y - now.y) / height / part);
    if (other !== undefined) {
      const [last, fresh] = [before, now].map(({ x, y }) => Math.hypot(x - other.x, y - other.y));
      const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
      view.zoom(Math.max(last, 1) / Math.max(fresh, 1), ...view.find(middle));
    }
  }

  canvas.addEventListener("wheel", (event) => {
    if (canvas.contains(document.activeElement) || isWhole() || event.ctrlKey) {
      view.measure();
      view.zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, ...view.find({ x: event.clientX, y: event.clientY }));
      event.preventDefault();
    }
  }, { passive: false });
  canvas.addEventListener("touchmove", (event) => {
    if (event.touches.length > 1) {
      event.preventDefault(); // the page does not scroll under two fingers
    }
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    moved = held.size > 0;
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener("pointermove", (event) => held.has(event.pointerId) && follow(event));
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, (event) => held.delete(event.pointerId));
  }
  canvas.addEventListener("dragstart", (event) => event.preventDefault());
  canvas.addEventListener("click", (event) => {
    if (moved && event.detail > 0) {
      event.preventDefault(); // the end of a movement is no click on an entity, but a key is one
      event.stopPropagation();
    }
  }, true);
}

// The entities of a drawing, each with its place, lines, neighbours and label.
function readNodes(drawing) {
  const nodes = [...drawing.querySelectorAll("a")].map((link) => {
    const { cx, cy, r } = link.querySelector("circle");
    const name = link.querySelector("title").textContent.replace(/ \([^(]*\)$/, "");
    return { link, name, x: cx.baseVal.value, y: cy.baseVal.value, size: r.baseVal.value, near: [], labels: [] };
  });
  const lines = [...drawing.querySelectorAll("line")].map((line) => {
    const ends = line.dataset.ends.split(" ").map((number) => nodes[number]);
    for (const [node, other] of [ends, [...ends].reverse()]) {
      node.near.push({ line, other, ends });
    }
    return { line, ends };
  });
  for (const label of drawing.querySelectorAll("[data-node]")) {
    nodes[label.dataset.node].labels.push(label);
  }
  return { nodes, lines };
}

// Light a node with its neighbours, and dim the rest. Without a node, light all.
function lightNode(drawing, node) {
  for (const each of drawing.querySelectorAll(".near")) {
    each.classList.remove("near");
  }
  drawing.classList.toggle("lit", node !== null);
  tellRelations(drawing.querySelector(".names"), node);
  const shown = byId("shown");
  shown.toggleAttribute("hidden", node === null);
  if (node === null) {
    return;
  }
  const seen = node.near.filter(({ line }) => !line.classList.contains("gone"));
  for (const { link, labels } of [node, ...seen.map(({ other }) => other)]) {
    [link, ...labels].forEach((each) => each.classList.add("near"));
  }
  seen.forEach(({ line }) => line.classList.add("near"));
  shown.textContent = node.name;
  shown.setAttribute("x", node.x);
  shown.setAttribute("y", node.y + node.size);
  node.labels.forEach((label) => label.classList.remove("near")); // its whole name stands there
}

// Write a text at a place of the drawing.
function writeName(names, text, x, y, kind) {
  const written = document.createElementNS(names.namespaceURI, "text");
  written.textContent = text;
  Object.entries({ x, y, class: kind, dy: "1.1em" }).forEach(([name, value]) => written.setAttribute(name, value));
  names.append(written);
  return written;
}

// Write the words of the relations of a node at its lines, if these are few.
function tellRelations(names, node) {
  names.querySelectorAll(".told").forEach((each) => each.remove());
  const seen = node?.near.filter(({ line }) => !line.classList.contains("gone")) ?? [];
  for (const { line, ends: [from, to] } of seen.length > WORDS ? [] : seen) {
    const words = line.querySelector("title").textContent.slice(from.name.length + 1, -to.name.length - 1);
    writeName(names, words, (from.x + to.x) / 2, (from.y + to.y) / 2, "told near");
  }
}

// Put what another drawing has around a node beside it. What is drawn already keeps its place.
function expandNode(drawing, { nodes, lines }, found, node) {
  const more = readNodes(found);
  const middle = more.nodes.find(({ name }) => name === node.name) ?? more.nodes[0];
  const twins = more.nodes.map((each) => {
    const old = nodes.find(({ name, link }) => name === each.name && link.dataset.type === each.link.dataset.type);
    if (old !== undefined) {
      return old;
    }
    const [x, y] = ["x", "y"].map((way) => node[way] + (each[way] - middle[way]) / 2);
    const link = document.importNode(each.link, true);
    const circle = link.querySelector("circle");
    Object.entries({ cx: x, cy: y }).forEach(([name, value]) => circle.setAttribute(name, value));
    circle.classList.remove("first");
    link.setAttribute("tabindex", -1);
    nodes.at(-1).link.after(link);
    const label = writeName(drawing.querySelector(".names"), each.name, x, y + each.size, "below");
    nodes.push({ ...each, link, x, y, near: [], labels: [label] });
    return nodes.at(-1);
  });
  for (const { line, ends } of more.lines) {
    const [from, to] = ends.map((end) => twins[more.nodes.indexOf(end)]);
    if (!from.near.some((each) => each.ends[0] === from && each.ends[1] === to)) {
      const copy = document.importNode(line, true);
      Object.entries({ x1: from.x, y1: from.y, x2: to.x, y2: to.y }).forEach(([name, value]) => copy.setAttribute(name, value));
      copy.removeAttribute("data-shadow");
      drawing.querySelector(".lines").append(copy);
      lines.push({ line: copy, ends: [from, to] });
      from.near.push({ line: copy, other: to, ends: [from, to] });
      to.near.push({ line: copy, other: from, ends: [from, to] });
    }
  }
}

// Show the entities of the chosen types and group, and the relations of a day, or those that were drawn.
function filterDrawing(drawing, { nodes, lines }, types, day, group) {
  drawing.classList.toggle("part", types.length > 0 || day !== undefined || group !== undefined);
  const members = new Set(lines.filter(({ line }) => line.dataset.shadow === group).flatMap(({ ends }) => ends));
  for (const { line } of lines) {
    const { since, until = "9999" } = line.dataset;
    const then = day === undefined ? !line.classList.contains("past") : since <= day && until > day;
    line.classList.toggle("gone", !then);
  }
  for (const node of nodes) {
    const { link, near, labels } = node;
    const inside = group === undefined || members.has(node);
    const wanted = inside && (types.length === 0 || types.includes(link.dataset.type));
    const alone = near.length > 0 && near.every(({ line }) => line.classList.contains("gone"));
    const first = link.querySelector(".first") !== null;
    [link, ...labels].forEach((each) => each.classList.toggle("gone", !inside || (!first && (!wanted || alone))));
  }
  for (const { line, ends } of lines) {
    if (ends.some(({ link }) => link.classList.contains("gone"))) {
      line.classList.add("gone");
    }
  }
  for (const [number, shadow] of drawing.querySelectorAll(".shadow").entries()) {
    const seen = lines.filter(({ line }) => line.dataset.shadow === String(number) && !line.classList.contains("gone"));
    shadow.setAttribute("d", seen.map(({ ends: [from, to] }) => `M${from.x} ${from.y}L${to.x} ${to.y}`).join(""));
  }
}

// Show what is known about an entity beside the drawing.
async function openPanel(panel, { link }) {
  const centred = new URL(link.href.baseVal, location.href);
  const card = new URL("entity", centred);
  for (const name of ["name", "space", "as_of"].filter((each) => centred.searchParams.has(each))) {
    card.searchParams.set(name, centred.searchParams.get(name));
  }
  card.searchParams.set("part", "card");
  const part = await fetchPart(card).catch(() => null);
  if (part === null) {
    location.assign(centred); // the session has ended, or the server is away: the page says which
    return;
  }
  panel.replaceChildren(...part.childNodes);
  panel.querySelector(".centre").href = centred;
  panel.hidden = false;
}

// Save the drawing as it is seen: colours and sizes become attributes, links and hidden parts go.
function saveDrawing(drawing) {
  const copy = drawing.cloneNode(true);
  const [seen, copies] = [drawing, copy].map((each) => [...each.querySelectorAll("*")]);
  seen.forEach((each, number) => {
    const style = getComputedStyle(each);
    const twin = copies[number];
    if (style.display === "none" || style.visibility === "hidden") {
      twin.remove();
    }
    PAINT.forEach((name) => twin.setAttribute(name, style.getPropertyValue(name)));
    ["href", "class", "tabindex"].forEach((name) => twin.removeAttribute(name));
  });
  const ground = document.createElementNS(copy.namespaceURI, "rect");
  const { x, y, width, height } = copy.viewBox.baseVal;
  Object.entries({ x, y, width, height, fill: getComputedStyle(drawing.parentElement).backgroundColor })
    .forEach(([name, value]) => ground.setAttribute(name, value));
  copy.prepend(ground);
  copy.removeAttribute("style");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  link.download = `${document.title.replace(/[^\p{L}\p{N}]+/gu, "-")}.svg`;
  link.click();
  URL.revokeObjectURL(link.href);
}

// The nearest node in a direction, of those that are seen.
function findNext(nodes, from, [right, down]) {
  const ahead = nodes.filter((node) => node !== from && !node.link.classList.contains("gone")).map((node) => {
    const [x, y] = [node.x - from.x, node.y - from.y];
    const forward = x * right + y * down;
    return { node, forward, cost: forward + 2 * Math.abs(x * down - y * right) };
  }).filter(({ forward }) => forward > 0);
  return ahead.sort((one, other) => one.cost - other.cost)[0]?.node ?? from;
}

// Choose a day of the drawing by a slider, or let it grow day by day.
function followTime(times, change) {
  const days = times.dataset.days.split(" ");
  const [slider, play, moment] = [byId("time"), byId("play"), byId("moment")];
  let timer = 0;

  function tell() {
    moment.textContent = days[slider.value] ?? "now";
    slider.setAttribute("aria-valuetext", moment.textContent);
    change(days[slider.value]);
  }

  function run(runs) {
    clearInterval(timer);
    play.classList.toggle("runs", runs);
    play.lastElementChild.textContent = runs ? "Pause" : "Play";
    if (runs) {
      slider.value = Number(slider.value) >= days.length ? 0 : slider.value;
      timer = setInterval(() => {
        slider.value = Number(slider.value) + 1;
        tell();
        if (Number(slider.value) >= days.length) {
          run(false);
        }
      }, BEAT);
      tell();
    }
  }

  slider.addEventListener("input", () => {
    run(false);
    tell();
  });
  play.addEventListener("click", () => run(!play.classList.contains("runs")));
}

function showGraph(canvas, drawing) {
  const all = readNodes(drawing);
  const { nodes } = all;
  const [stage, panel, find, absent] = ["stage", "panel", "seek", "absent"].map(byId);
  const names = drawing.querySelector(".names");
  const legend = byId("legend");
  let [day, group, current, chosen] = [undefined, undefined, nodes[0], null];

  const view = moveDrawing(canvas, drawing, (scale) => {
    names.setAttribute("font-size", FONT / scale);
    for (const group of names.querySelectorAll("[data-zoom]")) {
      group.classList.toggle("closer", Number(group.dataset.zoom) > scale * 1.001);
    }
  });
  const filter = () => filterDrawing(drawing, all, new FormData(legend).getAll("type"), day, group);
  const readNode = (element) => nodes.find(({ link }) => link === element.closest?.("a")) ?? null;

  function walkTo(node) {
    current.link.tabIndex = -1;
    current = node;
    node.link.tabIndex = 0;
    node.link.focus({ preventScroll: true });
  }

  function close() {
    panel.hidden = true;
    chosen = null;
    walkTo(current);
  }

  const keys = {
    ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
    "+": () => view.zoom(1 / STEP), "=": () => view.zoom(1 / STEP), "-": () => view.zoom(STEP), 0: view.showAll,
  };
  canvas.addEventListener("keydown", (event) => {
    const key = keys[event.key];
    if (key === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    if (!Array.isArray(key)) {
      key();
    } else if (event.shiftKey) {
      view.move(key[0] / 10, key[1] / 10);
    } else {
      walkTo(findNext(nodes, current, key));
    }
  });
  stage.addEventListener("keydown", (event) => event.key === "Escape" && !panel.hidden && close());
  canvas.addEventListener("focusin", (event) => {
    const node = readNode(event.target);
    if (node !== null) {
      current.link.tabIndex = -1;
      current = node;
      node.link.tabIndex = 0;
      view.reveal(node);
      lightNode(drawing, node);
    }
  });
  canvas.addEventListener("focusout", () => lightNode(drawing, chosen));
  canvas.addEventListener("pointerover", (event) => lightNode(drawing, readNode(event.target) ?? chosen));
  canvas.addEventListener("pointerleave", () => lightNode(drawing, chosen));
  canvas.addEventListener("click", async (event) => {
    const node = readNode(event.target);
    if (node === null || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    event.preventDefault();
    chosen = node;
    await openPanel(panel, node);
    if (event.detail === 0) {
      panel.focus(); // a key, and no mouse
    }
  });
  panel.addEventListener("click", async (event) => {
    if (event.target.closest(".close")) {
      close();
    } else if (event.target.closest(".expand")) {
      const node = chosen;
      const address = new URL(node.link.href.baseVal, location.href);
      address.searchParams.set("depth", 1);
      const found = await fetchPart(address).catch(() => null);
      if (found === null) {
        location.assign(address); // the session has ended, or the server is away: the page says which
      } else if (node === chosen) {
        expandNode(drawing, all, found.querySelector("#graph"), node);
        filter();
        lightNode(drawing, node);
      }
    }
  });
  const groups = byId("groups");
  groups?.removeAttribute("hidden");
  groups?.addEventListener("click", (event) => {
    const buttons = [...groups.querySelectorAll("button")];
    const number = buttons.indexOf(event.target.closest("button"));
    if (number >= 0) {
      group = group === String(number) ? undefined : String(number);
      buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(place) === group));
      filter();
    }
  });

  find.addEventListener("input", () => {
    const text = find.value.trim().toLowerCase();
    const found = nodes.filter(({ name }) => text !== "" && name.toLowerCase().includes(text));
    nodes.forEach((node) => node.link.classList.toggle("match", found.includes(node)));
  });
  find.addEventListener("change", () => {
    const text = find.value.trim().toLowerCase();
    const named = nodes.filter(({ name }) => text !== "" && name.toLowerCase().startsWith(text));
    const node = named.find(({ name }) => name.toLowerCase() === text) ?? named[0];
    absent.hidden = node !== undefined || text === "";
    if (!absent.hidden) {
      const address = new URL(absent.href);
      address.searchParams.set("name", find.value.trim());
      absent.href = address;
      absent.textContent = `${find.value.trim()} is not in the drawing: load it`;
    }
    if (node !== undefined) {
      view.look(view.measure().width / 1.2, node.x, node.y);
      walkTo(node);
    }
  });
  legend.addEventListener("change", (event) => event.target.name === "type" && filter());
  const times = stage.querySelector(".times");
  if (times !== null) {
    followTime(times, (wanted) => {
      day = wanted;
      filter();
    });
  }
  byId("closer").addEventListener("click", () => view.zoom(1 / STEP));
  byId("farther").addEventListener("click", () => view.zoom(STEP));
  byId("whole").addEventListener("click", view.showAll);
  byId("save").addEventListener("click", () => saveDrawing(drawing));
  byId("screen").addEventListener("click", () => (isWhole() ? document.exitFullscreen() : stage.requestFullscreen()));

  followPointers(canvas, view);
  canvas.classList.add("live");
  canvas.tabIndex = -1; // for clicks; the Tab key goes to one entity
  nodes.forEach(({ link }, number) => link.setAttribute("tabindex", number === 0 ? 0 : -1));
  byId("tools").hidden = byId("keys").hidden = false;
  filter();
  new ResizeObserver(() => {
    view.measure();
    view.showAll();
    view.paint();
  }).observe(canvas);
}

if (byId("graph") !== null) {
  showGraph(byId("canvas"), byId("graph"));
}
