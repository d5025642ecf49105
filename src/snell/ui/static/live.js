// Keeps the page up to date: when the store has changed, the page is read again and its live parts are replaced.
// Everything is escaped by the server; nothing here makes HTML out of text.
"use strict";

const SLOWEST = 400; // milliseconds between two readings
let isPaused = false;
let isReading = false;
let isStale = false;

function follow() {
  const source = new EventSource("/live");
  let last = null;
  source.onmessage = (event) => {
    document.getElementById("lost").hidden = true;
    if (last !== null && event.data !== last) refresh();
    last = event.data;
  };
  source.onerror = () => { document.getElementById("lost").hidden = false; };
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

async function refresh() {
  if (isPaused || isReading || isSelecting()) { isStale = true; return; }
  isReading = true;
  isStale = false;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.ok) replaceParts(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch { /* the server is gone for now; the stream says so */ }
  setTimeout(() => { isReading = false; if (isStale) refresh(); }, SLOWEST);
}

function replaceParts(fresh) {
  for (const old of document.querySelectorAll("[data-live]:not([data-still])")) {
    const part = fresh.getElementById(old.id);
    if (!part || part.innerHTML === old.innerHTML) continue;
    const known = new Set([...old.querySelectorAll("[data-key]")].map((each) => each.dataset.key));
    const open = [...old.querySelectorAll("details")].map((each) => each.open);
    const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    old.replaceChildren(...[...part.childNodes].map((each) => document.importNode(each, true)));
    old.querySelectorAll("details").forEach((each, place) => { each.open = open[place] ?? each.open; });
    if (focused) [...old.querySelectorAll("a")].find((each) => each.getAttribute("href") === focused)?.focus();
    const added = [...old.querySelectorAll("[data-key]")].filter((each) => !known.has(each.dataset.key));
    if (added.length) {
      added.forEach((each) => each.classList.add("new"));
      document.getElementById("said").textContent = `${added.length} new`;
    }
  }
}

function isSelecting() {
  const selection = getSelection();
  return selection && !selection.isCollapsed && document.getElementById("page").contains(selection.anchorNode);
}

function setPause(wanted) {
  const button = document.getElementById("pause");
  if (!button) return;
  isPaused = wanted;
  button.textContent = wanted ? "Continue" : "Pause";
  button.setAttribute("aria-pressed", String(wanted));
  if (!wanted && isStale) refresh();
}

function move(step) {
  const links = [...document.querySelectorAll(".rows tbody tr")].map((row) => row.querySelector("a")).filter(Boolean);
  const place = links.indexOf(document.activeElement);
  const next = links[place < 0 ? (step > 0 ? 0 : links.length - 1) : place + step];
  if (next) { next.focus(); next.closest("tr").scrollIntoView({ block: "nearest" }); }
}

const KEYS = {
  "/": () => document.querySelector("[data-search]")?.focus(),
  j: () => move(1),
  k: () => move(-1),
  p: () => setPause(!isPaused),
};

addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select, textarea");
  if (isTyping && event.key === "Escape") event.target.blur();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

document.addEventListener("selectionchange", () => { if (isStale && !isSelecting()) refresh(); });
document.querySelectorAll(".keys, #pause").forEach((each) => { each.hidden = false; });
document.getElementById("pause")?.addEventListener("click", () => setPause(!isPaused));
follow();
