// A review: the queue, the mention that is shown, and what is decided.
import { ask, attempt, canWrite, code, complain, counted, done, get, make, number, tell } from "./common.js";
import { describe } from "./concept.js";
import { openDialogs } from "./dialogs.js";
import { add, render, renderAlike } from "./item.js";
import { openPalette } from "./palette.js";
import { renderRows } from "./rows.js";
import { bar, tier } from "./tiers.js";

const id = get("review").dataset.id;
const base = `/v1/reviews/${id}`;
const STATES = { linked: "linked", accepted: "accepted unseen", nil: "no concept", flagged: "flagged", reopened: "reopened", open: "to do" };
const PARTS = { todo: ["open", "reopened"], reopened: ["reopened"], flagged: ["flagged"], accepted: ["accepted"], decided: ["linked", "accepted", "nil"], all: Object.keys(STATES) };
const SEGMENTS = { linked: "decided", accepted: "accepted", nil: "decided", flagged: "flagged", reopened: "reopened", open: "todo" };
const OPEN_PARTS = ["todo", "reopened", "flagged"];
const FILTERS = ["text", "type", "leaf"];
const PAGE = 100;
const MOST = 200; // that are decided along with one
let review = null;
let items = [];
let total = 0;
let shown = null; // the item in the middle, as it was read
let byHand = false; // whether somebody went to it
let asked = 0;
let readings = 0;
let listings = 0;
let chosen = []; // concepts that are chosen for it, not saved yet
let picked = new Map(); // versions of the mentions that are decided with it, by id
let marked = new Map(); // mentions that are selected in the list, by id
let from = null; // where a selection of several begins
const sorted = { order: "", descending: false }; // of the table, where it was sorted there

// --- the review ------------------------------------------------------------------------------

async function readReview() {
  const before = review;
  const turn = ++readings;
  try {
    const now = await ask(base, { quiet: Boolean(before) });
    if (turn !== readings) return; // it was asked for again meanwhile
    review = now;
  } catch (error) {
    if (error.status === 404) return miss(error.message);
    // The service or its database is away, and may be back soon.
    if (error.status === 0 || error.status === 503) setTimeout(() => attempt(readReview), 3000);
    throw error;
  }
  document.title = `${review.name} – canonym`;
  get("name").textContent = get("name").title = review.name;
  const rows = Object.values(review.rows).reduce((a, b) => a + b, 0);
  get("about").textContent = `${review.terminology} · ${counted(review.total, "mention")}, of ${counted(rows, "occurrence")}`;
  get("about").title = `begun by ${review.created_by}`;
  get("linking").hidden = !review.waiting;
  get("chart-text").classList.toggle("hidden", Boolean(review.waiting)); // it makes room
  get("linked").max = review.total;
  get("linked").value = review.total - review.waiting;
  get("linked-text").textContent = `${number(review.total - review.waiting)} of ${number(review.total)}`;
  get("outdated").hidden = review.current && !review.problem;
  get("outdated-text").textContent = review.problem ? `Linking stopped: ${review.problem}.` : "The index has changed.";
  for (const option of [...get("format").options]) if (!review.formats.includes(option.value)) option.remove(); // they cannot hold its concepts
  draw();
  if (review.waiting && !review.problem) {
    setTimeout(() => attempt(readReview), 700);
    if (!before || !items.length) await readItems();
  } else if (before && before.waiting) await readLinked();
}

// Whether somebody chose or wrote something that is not saved yet.
const begun = () => chosen.length > 0 || ["comment", "another"].some((one) => get(one)?.value);

// All is linked now: who went to a mention stays there, and what was written stays.
async function readLinked() {
  await readItems({ keep: byHand || begun() });
  if (byHand && shown && !begun()) await show(shown.id, { focus: true }); // with its candidates
  warm();
}

function miss(why) {
  document.querySelector(".skip[href='#mention']")?.remove();
  get("review").replaceChildren(make("section", { class: "panel missing" },
    make("h1", {}, "There is nothing to review here"),
    make("p", {}, `${why[0].toUpperCase()}${why.slice(1)}.`),
    make("p", {}, make("a", { href: "/reviews" }, "See all reviews"))));
}

function draw() {
  const parts = Object.entries(STATES).map(([state, text]) => [state, text, review.items[state]]).filter(([state, , n]) => n || state === "open");
  const all = Math.max(1, review.total);
  let at = 0;
  const bars = parts.map(([state, , n]) => {
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({ x: at, y: 0, width: (100 * n) / all, height: 4, class: state })) rect.setAttribute(name, value);
    at += (100 * n) / all;
    return rect;
  });
  get("chart").replaceChildren(...bars);
  get("chart-text").replaceChildren(
    make("span", {}, `${number(done(review))} of ${number(review.total)} decided`),
    ...parts.map(([state, text, n]) => make("button", { type: "button", class: `legend ${state}`, title: `Show what is ${text}`, click: () => showPart(SEGMENTS[state]) }, `${text} ${number(n)}`)),
  );
}

const showPart = (part) => {
  get("part").value = part;
  return attempt(() => readItems({ keep: false }));
};

// --- the queue -------------------------------------------------------------------------------

const asTable = () => !get("rows").hidden;

async function readItems({ more = false, keep = true } = {}) {
  const order = asTable() && sorted.order ? sorted : { order: get("order").value, descending: false };
  const query = new URLSearchParams({ ...filters(), part: get("part").value, ...order, offset: more ? items.length - gone() : 0, limit: PAGE });
  const turn = ++listings;
  const found = await ask(`${base}/items?${query}`);
  if (turn !== listings) return; // another part was asked for meanwhile
  total = found.total + (more ? gone() : 0);
  items = more ? [...items, ...found.items] : found.items;
  if (!more) marked = new Map(items.filter((one) => marked.has(one.id)).map((one) => [one.id, one]));
  list();
  if (!more && !(keep && shown)) await show(items[0]?.id);
}

// What narrows the part of the queue that is shown.
const filters = () => Object.fromEntries(FILTERS.map((one) => [one, get(one).value.trim()]).filter(([, value]) => value));

// Offer the filters that the terminology knows.
async function readTerminology() {
  if (get("type").length) return; // as when somebody gives a name
  const { terminologies } = await ask("/v1/terminologies");
  const { types = {}, hierarchy = false } = terminologies.find((one) => one.name === review.terminology) || {};
  const options = Object.keys(types).map((type) => make("option", { value: type }, type));
  get("type").replaceChildren(make("option", { value: "" }, "Any type"), ...options);
  get("type").parentElement.hidden = !options.length;
  get("leaf").parentElement.hidden = !hierarchy;
}

// The first search of a server takes seconds: it is made before somebody waits for it.
function warm() {
  const query = new URLSearchParams({ prefix: "a b", terminology: review.terminology, anywhere: true, limit: 1 });
  ask(`/v1/search?${query}`, { quiet: true }).catch(() => {});
}

// Which items in the list left this part of the queue since it was read, and how many.
const left = (one) => !PARTS[get("part").value].includes(one.state);
const gone = () => items.filter(left).length;

function list() {
  const n = total - gone();
  get("list-title").textContent = `Queue (${number(n)})`;
  const inside = get("items").contains(document.activeElement);
  get("items").replaceChildren(...(get("order").value === "concept" ? groups() : items.map((one) => line(one))));
  if (inside) document.querySelector("#items [aria-current]")?.focus({ preventScroll: true });
  get("items").hidden = !items.length;
  get("more").hidden = items.length >= total;
  get("none").hidden = !Object.keys(filters()).length || !OPEN_PARTS.includes(get("part").value) || n < 1;
  get("none").textContent = n === 1 ? "No concept for this one" : `No concept for all ${number(n)}`;
  drawEmpty();
  drawSelection();
  if (asTable()) renderRows(items, total, { sorted, shown, marked, words: STATES, mark, sort, more: readMore, open: (one) => attempt(() => leaveTable(one)) });
}

function line(one, { grouped = false } = {}) {
  const { key, word } = tier(one);
  const status = one.proposal.status || [];
  const exceptions = [...status, word && key !== "likely" ? word : ""].filter(Boolean);
  return make(
    "div",
    {
      role: "option", "data-item": one.id, class: `item ${key}`, "aria-selected": marked.has(one.id) ? "true" : "false",
      "aria-current": shown?.id === one.id ? "true" : false, tabindex: shown?.id === one.id ? "0" : "-1", click: (event) => pick(event, one),
    },
    make("span", { class: "said" }, make("span", { class: "term" }, one.mention), one.context && !grouped ? make("span", { class: "hint" }, ` ${one.context}`) : ""),
    make("span", { class: "meta" }, ...(one.state === "open" || PARTS[get("part").value].length < 2 ? exceptions.map((text) => make("span", { class: `badge ${key}` }, text)) : [make("span", { class: `badge ${one.state}` }, STATES[one.state])]), one.frequency > 1 ? ` ×${number(one.frequency)}` : ""),
    make("span", { class: "guess" }, ...(grouped ? [one.context] : outcome(one))),
    measured(one) ? bar(one.confidence, { title: one.proposal.confidence === null ? "similarity" : "confidence" }) : "",
  );
}

const measured = (one) => (one.state === "open" || one.state === "accepted") && one.proposal.concepts?.length && !one.proposal.status?.length;

// What has the same proposal under its name, with how many there are.
function groups() {
  const parts = [];
  for (const one of items) {
    const key = (one.decision?.concepts.length ? one.decision.concepts : one.proposal.concepts || []).map((concept) => concept.id).join("\n");
    const last = parts[parts.length - 1];
    if (last?.key === key) last.members.push(one);
    else parts.push({ key, members: [one], n: one.n_alike });
  }
  return parts.map(({ members, n }, at) => make(
    "div", { role: "group", "aria-labelledby": `group-${at}` },
    make("div", { id: `group-${at}`, class: "group", role: "presentation", title: "Select all of them", click: () => markAll(members) }, make("span", {}, ...heading(members[0])), make("span", { class: "meta" }, number(n))),
    ...members.map((one) => line(one, { grouped: true })),
  ));
}

function heading(item) {
  const shownAs = outcome(item).filter(Boolean);
  return shownAs.length ? shownAs : [STATES[item.state]];
}

function outcome(item) {
  if (item.state === "nil") return [];
  const concepts = item.decision?.concepts.length ? item.decision.concepts : item.proposal.concepts;
  if (!concepts) return ["…"]; // not linked yet
  if (!concepts.length) return [item.proposal.status?.length ? "" : "nothing fits"];
  return concepts.flatMap((one, n) => [n ? " + " : "", make("code", {}, code(one.id)), ` ${one.label}`]);
}

function drawEmpty() {
  get("empty").hidden = items.length > 0;
  if (items.length || !review) return;
  const narrowed = Object.keys(filters()).length > 0;
  const all = make("button", { type: "button", click: () => { for (const one of FILTERS) get(one).value = ""; showPart(narrowed ? get("part").value : "all"); } }, narrowed ? "Clear the filters" : "Show all mentions");
  const what = narrowed ? "No mention is left by these filters." : get("part").value === "todo" ? "Everything is decided." : "There is nothing in this part of the list.";
  get("empty").replaceChildren(make("p", {}, what), make("p", {}, all));
}

async function show(itemId, { focus = false } = {}) {
  const wanted = ++asked;
  if (itemId === undefined) {
    shown = null;
    chosen = [];
    get("detail").replaceChildren(make("h2", { id: "mention", tabindex: "-1" }, review?.waiting ? "Linking …" : "Nothing to show"));
    drawThumb();
    return;
  }
  const found = await ask(`${base}/items/${itemId}`);
  if (wanted !== asked) return; // another was asked for meanwhile
  if (begun() && shown?.id === found.id && shown.version === found.version) return; // what was begun meanwhile stays
  shown = found;
  byHand = focus;
  chosen = [];
  picked = new Map();
  drawItem();
  get("detail").parentElement.scrollTop = 0;
  mark(null);
  attempt(() => readAlike(itemId));
  if (focus) get("mention").focus({ preventScroll: true });
  if (focus && scrollY > 0 && matchMedia("(max-width: 60rem)").matches) scrollTo(0, 0);
  look(shown.candidates[0]);
  reveal(document.querySelector(`.list [data-item="${itemId}"]`));
}

function reveal(row) {
  const box = document.querySelector(".list"); // which scrolls by itself where it stands beside
  if (!row || box.scrollHeight <= box.clientHeight) return;
  const top = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
  if (top < 40 || top + row.offsetHeight > box.clientHeight) box.scrollTop += top - box.clientHeight / 3;
}

// What may mean the same is decided with it where it has the same words, or where somebody says so.
async function readAlike(itemId) {
  const { items: others } = await ask(`${base}/items/${itemId}/alike`);
  if (shown?.id !== itemId) return;
  shown.alike = others;
  picked = new Map(others.filter((one) => one.same).map((one) => [one.id, one.version]));
  drawAlike();
}

function drawAlike() {
  renderAlike(shown, picked, (ids) => {
    picked = new Map(shown.alike.filter((one) => ids.has(one.id)).map((one) => [one.id, one.version]));
    drawAlike();
  });
}

const tools = () => ({ chosen, terminology: review.terminology, decide, accept, save, redraw, look, choose, takeBack: () => decide("undo") });

function drawItem() {
  render(get("detail"), shown, tools());
  if (shown.alike) drawAlike();
  drawThumb();
}

function drawThumb() {
  document.querySelector(".thumb [data-do=accept]").disabled = !shown?.proposal.concepts?.length;
}

// Draw an item again after a choice; a comment that was begun stays.
function redraw(chosenId) {
  const { value } = get("comment");
  const open = document.querySelector(".unlikely")?.open;
  drawItem();
  get("comment").value = value;
  if (open && document.querySelector(".unlikely")) document.querySelector(".unlikely").open = true;
  if (chosenId) document.querySelector(`[data-chosen="${CSS.escape(chosenId)}"] select`)?.focus();
}

// Choose a concept that was searched, or that stands beside another one.
function choose(one) {
  if (!shown) return;
  add(chosen, one);
  redraw();
  look(one);
  get("save")?.focus();
}

let looked = 0;
function look(one) {
  clearTimeout(looked);
  if (!one || !get("concept").offsetParent) return;
  looked = setTimeout(() => describe(get("concept"), one.id, { terminology: review.terminology, choose }), 60);
}

function go(step, { focus = true } = {}) {
  const to = neighbour(step);
  if (to !== undefined) return attempt(() => show(to, { focus }));
  return step > 0 && items.length < total ? readMore().then(() => neighbour(step) !== undefined && go(step, { focus })) : undefined;
}

const readMore = () => attempt(() => readItems({ more: true }));

const place = () => items.findIndex((one) => one.id === shown?.id);

function neighbour(step) {
  const at = place();
  return items[at < 0 ? 0 : at + step]?.id;
}

// --- several -------------------------------------------------------------------------------

function pick(event, one) {
  if (event.shiftKey) {
    const ends = [from ?? shown?.id, one.id].map((end) => items.findIndex((other) => other.id === end));
    markAll(items.slice(Math.max(0, Math.min(...ends)), Math.max(...ends) + 1));
    getSelection()?.removeAllRanges();
  } else if (event.ctrlKey || event.metaKey) mark(one);
  else {
    from = one.id;
    attempt(() => show(one.id, { focus: true }));
  }
}

// Select a mention, or no longer; without one, draw what is selected.
function mark(one) {
  if (one) {
    from = one.id;
    if (!marked.delete(one.id)) marked.set(one.id, one);
  }
  list();
}

function markAll(members) {
  const add = members.some((one) => !marked.has(one.id));
  for (const one of members) {
    if (add) marked.set(one.id, one);
    else marked.delete(one.id);
  }
  list();
}

function drawSelection() {
  get("selection").hidden = !marked.size;
  get("selected").textContent = `${number(marked.size)} selected`;
  const proposed = [...marked.values()].every((one) => one.proposal.concepts?.length);
  document.querySelector(".selection [data-do=accept]").disabled = !proposed;
}

const clear = () => { marked = new Map(); list(); };

// --- deciding --------------------------------------------------------------------------------

let busy = false;
const dos = {
  accept: () => accept(),
  nil: () => decide("nil"),
  flag: () => decide("flag"),
  next: () => go(1),
  clear,
};

const accept = () => (marked.size ? decide("link", [], { proposed: true }) : shown?.proposal.concepts?.length && decide("link", shown.proposal.concepts.map(({ id, relation }) => ({ id, relation }))));
const save = () => chosen.length && decide("link", chosen.map(({ id, relation }) => ({ id, relation })));

// Decide the mention that is shown with those that are ticked, or else all that are selected.
async function decide(kind, concepts = [], { proposed = false } = {}) {
  if (busy || !canWrite()) return;
  const alone = kind === "comment" || kind === "undo";
  const several = marked.size && !alone ? new Map([...marked].map(([key, one]) => [key, one.version])) : null;
  if (!several && !shown) return;
  if (several && several.size > MOST) return complain(`At most ${number(MOST)} are decided at once, and ${number(several.size)} are selected.`);
  busy = true;
  const first = several ? several.keys().next().value : shown.id;
  const together = alone ? new Map() : new Map(several ?? picked);
  const version = several ? several.get(first) : shown.version;
  together.delete(first);
  const given = { version, kind, concepts, proposed, comment: get("comment")?.value.trim() || "" };
  given.also = [...together].map(([other, seen]) => ({ id: other, version: seen }));
  const next = items.slice(Math.max(0, place())).find((one) => one.id !== first && !together.has(one.id) && !left(one))?.id;
  try {
    complain("");
    const now = await ask(`${base}/items/${first}/decisions`, { method: "POST", json: given });
    items = items.map((one) => {
      if (one.id === now.id) return { ...one, ...now, n_alike: one.n_alike };
      return together.has(one.id) ? { ...one, state: now.state, decision: { ...now.decision, concepts: proposed ? one.proposal.concepts : now.decision?.concepts ?? [] }, version: one.version + 1 } : one;
    });
    marked = new Map();
    if (alone) await show(now.id, { focus: true });
    else if (next !== undefined) await show(next, { focus: true });
    else await readItems({ keep: false }); // what is left, from the top
    const what = `${now.mention}${together.size ? ` and ${number(together.size)} more` : ""}: ${STATES[now.state]}`;
    readAfter(what, alone ? undefined : { label: together.size ? `Undo ${number(1 + together.size)}` : "Undo", work: undo });
  } catch (error) {
    if (error.status === 409 && error.body.item) collide(error.body.item, given.comment);
    else complain(error.message);
  } finally {
    busy = false; // the next one may be decided while this one is counted
  }
}

// Take back what this person decided last, wherever that is, and go there.
async function undo() {
  if (busy || !canWrite()) return;
  busy = true;
  await attempt(async () => {
    const { id: first, mention, undone } = await ask(`${base}/undo`, { method: "POST" });
    await readReview();
    await readItems();
    await show(first, { focus: true });
    tell(`Undone: ${mention}${undone > 1 ? ` and ${number(undone - 1)} more` : ""}`);
  });
  busy = false;
}

// Count what was decided, and say so.
async function readAfter(text, undoing) {
  tell(text, undoing);
  await readReview().catch((error) => complain(error.message));
}

// Somebody else was quicker: show what they did; what was chosen and written here stays.
function collide(now, comment) {
  const last = now.history[now.history.length - 1];
  const what = last?.concepts.map((one) => one.label).join(" + ") || (last ? last.kind : "linked again");
  shown = now;
  items = items.map((one) => (one.id === now.id ? { ...one, ...now, n_alike: one.n_alike } : one));
  marked = new Map();
  drawItem();
  list();
  get("comment").value = comment;
  complain(`${last ? last.who : "The service"} changed this meanwhile (${what}). Yours is not saved: look at it as it is now, and decide again.`);
}

// Decide that no mention that the filters leave has a concept.
async function decideNone() {
  if (busy || !canWrite()) return;
  busy = true;
  await attempt(async () => {
    const given = { ...filters(), part: get("part").value, expected: total - gone() };
    if (given.leaf) given.leaf = given.leaf === "true";
    const { decided } = await ask(`${base}/none`, { method: "POST", json: given });
    for (const one of FILTERS) get(one).value = "";
    await readReview();
    await readItems({ keep: false });
    tell(`${counted(decided, "mention")}: ${STATES.nil}`, { label: `Undo ${number(decided)}`, work: undo });
  });
  busy = false;
}

// Read all again after a decision about many.
async function readAll() {
  await readReview();
  await readItems({ keep: false });
}

async function linkAgain() {
  if (!canWrite()) return;
  await attempt(async () => {
    await ask(`${base}/link`, { method: "POST" });
    await readReview();
  });
}

// --- the table -------------------------------------------------------------------------------

function turn() {
  const table = get("rows").hidden;
  get("rows").hidden = !table;
  get("panes").hidden = table;
  get("as-table").setAttribute("aria-pressed", String(table));
  if (table && get("part").value === "todo") get("part").value = "all";
  return attempt(() => readItems());
}

function sort(order) {
  sorted.descending = sorted.order === order && !sorted.descending;
  sorted.order = order;
  return attempt(() => readItems());
}

async function leaveTable(one) {
  turn();
  await show(one.id, { focus: true });
}

// --- keys ------------------------------------------------------------------------------------

const dialogs = openDialogs({ base, review: () => review, undo, readAll });
const COMMANDS = [
  ["Accept the proposal", "a", accept],
  ["No concept", "n", () => decide("nil")],
  ["Flag for somebody else", "f", () => decide("flag")],
  ["Undo my last decision", "u", undo],
  ["Next mention", "j", () => go(1)],
  ["Previous mention", "k", () => go(-1)],
  ["Search another concept", "/", () => get("another")?.focus()],
  ["Save what is chosen", "s", save],
  ["Take all with the same proposal along", "g", () => get("all-alike")?.click()],
  ["Select this mention", "x", () => shown && mark(items.find((one) => one.id === shown.id) ?? shown)],
  ["Comment", "c", () => get("comment")?.focus()],
  ["Table of all rows", "t", turn],
  ["Accept many …", "", () => dialogs.open("many")],
  ["Export …", "", () => dialogs.open("exporting")],
  ["Teach the index …", "", () => dialogs.open("teaching")],
  ["Link again with the newest index", "", linkAgain],
  ...[...get("part").options].map((option) => [`Show: ${option.text}`, "", () => showPart(option.value)]),
  ...[...get("order").options].map((option) => [`Sort: ${option.text}`, "", () => { get("order").value = option.value; return attempt(() => readItems({ keep: false })); }]),
  ["Keys", "?", () => dialogs.open("keys")],
  ["All reviews", "", () => location.assign("/reviews")],
];
const KEYS = Object.fromEntries(COMMANDS.filter(([, key]) => key).map(([, key, work]) => [key, work]));
const palette = openPalette({ commands: COMMANDS, find: async (text) => (await ask(`${base}/items?${new URLSearchParams({ part: "all", text, limit: 8 })}`, { quiet: true })).items, open: (one) => attempt(() => show(one.id, { focus: true })) });

function press(event) {
  const inList = event.target.closest?.("#items");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (inList && step) {
    event.preventDefault();
    if (event.shiftKey && shown) mark(items.find((one) => one.id === shown.id));
    attempt(async () => {
      await go(step, { focus: false });
      document.querySelector("#items [aria-current]")?.focus();
    });
    return;
  }
  if (event.target.id === "mention" && event.key === "ArrowDown") {
    event.preventDefault();
    document.querySelector("#detail .candidates button")?.focus();
    return;
  }
  const at = document.querySelector(`#detail [data-number="${CSS.escape(event.key)}"]`);
  if (/^[1-9]$/.test(event.key) && at) {
    event.preventDefault();
    at.click();
  } else if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

document.addEventListener("keydown", (event) => {
  if (!event.key) return; // a form that was filled in by the browser
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    palette.show();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  const writing = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape" && writing) get("mention").focus();
  else if (event.key === "Escape") {
    complain("");
    clear();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || writing) return;
  press(event);
});

for (const one of ["part", "order", "type", "leaf"]) get(one).addEventListener("change", () => {
  sorted.order = "";
  attempt(() => readItems({ keep: false }));
});
let typing = 0;
get("text").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => attempt(() => readItems({ keep: false })), 200);
});
get("none").addEventListener("click", decideNone);
get("undo").addEventListener("click", undo);
get("more").addEventListener("click", readMore);
get("as-table").addEventListener("click", turn);
get("link-again").addEventListener("click", linkAgain);
for (const one of document.querySelectorAll("[data-do]")) one.addEventListener("click", () => dos[one.dataset.do]());
for (const one of document.querySelectorAll("[data-opens=palette]")) one.addEventListener("click", () => palette.show());
get("problem").addEventListener("click", () => complain(""));
if (matchMedia("(max-width: 60rem)").matches) get("filters").open = false;
matchMedia("(min-width: 96rem)").addEventListener("change", () => look(shown?.candidates[0]));
const begin = () => attempt(async () => {
  await readReview();
  if (!review) return; // somebody gave a name meanwhile, and it is read again
  await readTerminology();
  if (!items.length) await readItems();
  if (!review.waiting) warm();
});
document.addEventListener("who", begin);
begin();
