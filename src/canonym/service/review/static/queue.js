import { ask, attempt, canWrite, complain, counted, done, get, make, number, percent, tell } from "./common.js";
import { render, renderAlike } from "./item.js";

const id = get("review").dataset.id;
const base = `/v1/reviews/${id}`;
const STATES = { linked: "linked", accepted: "accepted unseen", nil: "no concept", flagged: "flagged", reopened: "opened again", open: "to do" };
const PARTS = { todo: ["open", "reopened"], reopened: ["reopened"], flagged: ["flagged"], decided: ["accepted", "linked", "nil"], accepted: ["accepted"], all: Object.keys(STATES) };
const FILTERS = ["text", "type", "leaf"];
const PAGE = 50;
let review = null;
let items = [];
let total = 0;
let shown = null; // the item on the right, as it was read
let byHand = false; // whether somebody went to it
let asked = 0;
let readings = 0;
let chosen = []; // concepts that are chosen for it, not saved yet
let picked = new Map(); // versions of the mentions that are decided with it, by id

// --- the review ------------------------------------------------------------------------------

async function readReview() {
  const before = review;
  const turn = ++readings;
  try {
    const now = await ask(base);
    if (turn !== readings) return; // it was asked for again meanwhile
    review = now;
  } catch (error) {
    // The service or its database is away, and may be back soon.
    if (error.status === 0 || error.status === 503) setTimeout(() => attempt(readReview), 3000);
    throw error;
  }
  get("name").textContent = review.name;
  get("about").textContent = `${review.terminology} · ${counted(review.total, "mention")}, of ${counted(Object.values(review.rows).reduce((a, b) => a + b, 0), "occurrence")} · begun by ${review.created_by}`;
  get("problem-of-review").hidden = !review.problem;
  get("problem-of-review").textContent = review.problem;
  get("linking").hidden = !review.waiting;
  get("linked").max = review.total;
  get("linked").value = review.total - review.waiting;
  get("linked-text").textContent = `${number(review.total - review.waiting)} of ${number(review.total)}`;
  get("outdated").hidden = review.current && !review.problem;
  get("outdated-text").textContent = review.problem ? "Linking stopped." : "The index has changed since this list was linked.";
  for (const option of [...get("format").options]) if (!review.formats.includes(option.value)) option.remove(); // they cannot hold its concepts
  draw();
  if (review.waiting && !review.problem) {
    setTimeout(() => attempt(readReview), 700);
    if (!before || !items.length) await readItems();
  } else if (before && before.waiting) await readLinked();
}

// All is linked now: who went to a mention stays there, and what was written stays.
async function readLinked() {
  const begun = chosen.length > 0 || ["comment", "another"].some((one) => get(one)?.value);
  await readItems({ keep: byHand || begun });
  if (byHand && shown && !begun) await show(shown.id, { focus: true }); // with its candidates
}

function draw() {
  const parts = Object.entries(STATES).map(([state, text]) => [state, text, review.items[state]]);
  const total = Math.max(1, review.total);
  let at = 0;
  const bars = parts.map(([state, , n]) => {
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({ x: at, y: 0, width: (100 * n) / total, height: 4, class: state }))
      bar.setAttribute(name, value);
    at += (100 * n) / total;
    return bar;
  });
  get("chart").replaceChildren(...bars);
  get("chart-text").replaceChildren(
    make("span", {}, `${number(done(review))} of ${number(review.total)} decided`),
    ...parts.map(([state, text, n]) => make("span", { class: `legend ${state}` }, `${text} ${number(n)}`)),
  );
}

// --- the queue -------------------------------------------------------------------------------

async function readItems({ more = false, keep = true } = {}) {
  const query = new URLSearchParams({
    ...filters(), part: get("part").value, order: get("order").value, offset: more ? items.length - gone() : 0, limit: PAGE,
  });
  const found = await ask(`${base}/items?${query}`);
  total = found.total + (more ? gone() : 0);
  items = more ? [...items, ...found.items] : found.items;
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
  const options = Object.keys(types).map((type) => make("option", {}, type));
  get("type").replaceChildren(make("option", { value: "" }, "all"), ...options);
  get("type").parentElement.hidden = !options.length;
  get("leaf").parentElement.hidden = !hierarchy;
}

// Which items in the list left this part of the queue since it was read, and how many.
const left = (one) => !PARTS[get("part").value].includes(one.state);
const gone = () => items.filter(left).length;

function list() {
  get("list-title").textContent = `Queue (${number(total - gone())})`;
  get("items").replaceChildren(
    ...items.map((one) =>
      make(
        "li", {},
        make(
          "button",
          { type: "button", "data-item": one.id, "aria-current": shown?.id === one.id ? "true" : false, click: () => attempt(() => show(one.id, { focus: true })) },
          make("span", { class: "term" }, one.mention),
          make("span", { class: "meta", title: `occurs ${number(one.frequency)} ${one.frequency === 1 ? "time" : "times"}, confidence` }, one.state === "open" ? "" : make("span", { class: `badge ${one.state}` }, STATES[one.state]), ` ×${number(one.frequency)}${sureness(one)}`),
          make("span", { class: "guess" }, ...outcome(one)),
        ),
      ),
    ),
  );
  get("more").hidden = items.length >= total;
  const n = total - gone();
  get("none").hidden = !Object.keys(filters()).length || !["todo", "reopened", "flagged"].includes(get("part").value) || n < 1;
  get("none").textContent = n === 1 ? "This is nothing" : `All ${number(n)} of these are nothing`;
}

// Where nothing is proposed, or the mention says "no" or "perhaps", there is nothing to be sure of.
function sureness(item) {
  if (!item.proposal.concepts?.length || item.proposal.status?.length) return "";
  return ` · ${percent(item.confidence)}`;
}

function outcome(item) {
  if (item.state === "nil") return [];
  const concepts = item.decision?.concepts.length ? item.decision.concepts : item.proposal.concepts;
  if (!concepts) return ["…"]; // not linked yet
  const status = item.proposal.status?.length ? `${item.proposal.status.join(", ")} ` : "";
  if (!concepts.length) return [`${status}${status ? "" : "nothing fits"}`];
  return [status, ...concepts.flatMap((one, n) => [n ? " + " : "", make("code", {}, one.id), ` ${one.label}`])];
}

async function show(itemId, { focus = false } = {}) {
  const wanted = ++asked;
  if (itemId === undefined) {
    shown = null;
    chosen = [];
    get("detail").replaceChildren(make("h2", { id: "mention", tabindex: "-1" }, review?.waiting ? "Linking …" : "Nothing to show"));
    return;
  }
  const found = await ask(`${base}/items/${itemId}`);
  if (wanted !== asked) return; // another was asked for meanwhile
  shown = found;
  byHand = focus;
  chosen = [];
  picked = new Map();
  drawItem();
  list();
  attempt(() => readAlike(itemId));
  if (focus) get("mention").focus();
  const row = document.querySelector(`[data-item="${itemId}"]`);
  const box = document.querySelector(".list"); // which scrolls by itself where it stands beside
  if (row && (row.offsetTop < box.scrollTop || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight))
    box.scrollTop = row.offsetTop - box.clientHeight / 3;
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

function drawItem() {
  render(get("detail"), shown, { chosen, terminology: review.terminology, decide, redraw });
  if (shown.alike) drawAlike();
}

// Draw an item again after a choice; a comment that was begun stays.
function redraw() {
  const { value } = get("comment");
  drawItem();
  get("comment").value = value;
}

function go(step) {
  const to = neighbour(step);
  if (to !== undefined) attempt(() => show(to, { focus: true }));
}

function neighbour(step, passed = () => false) {
  const at = items.findIndex((one) => one.id === shown?.id);
  let to = at < 0 ? 0 : at + step;
  while (items[to] && passed(items[to])) to += step;
  return items[to]?.id;
}

// --- deciding --------------------------------------------------------------------------------

let busy = false;

async function decide(kind, concepts = []) {
  if (!shown || busy || !canWrite()) return;
  busy = true;
  const given = { version: shown.version, kind, concepts, comment: get("comment")?.value.trim() || "" };
  const together = kind === "comment" || kind === "undo" ? new Map() : picked;
  given.also = [...together].map(([other, version]) => ({ id: other, version }));
  const next = neighbour(1, (one) => together.has(one.id) || left(one));
  try {
    complain("");
    const now = await ask(`${base}/items/${shown.id}/decisions`, { method: "POST", json: given });
    items = items.map((one) => {
      if (one.id === now.id) return { ...one, ...now };
      return together.has(one.id) ? { ...one, state: now.state, decision: now.decision, version: one.version + 1 } : one;
    });
    if (kind === "comment" || kind === "undo") await show(now.id, { focus: true });
    else if (next !== undefined) await show(next, { focus: true });
    else await readItems({ keep: false }); // what is left, from the top
    readAfter(`${now.mention}${together.size ? ` and ${number(together.size)} more` : ""}: ${STATES[now.state]}`);
  } catch (error) {
    if (error.status === 409 && error.body.item) collide(error.body.item, given.comment);
    else complain(error.message);
  } finally {
    busy = false; // the next one may be decided while this one is counted
  }
}

// Count what was decided, and say so.
async function readAfter(text) {
  await readReview().catch((error) => complain(error.message));
  tell(text);
}

// Somebody else was quicker: show what they did; what was chosen and written here stays.
function collide(now, comment) {
  const last = now.history[now.history.length - 1];
  const what = last?.concepts.map((one) => one.label).join(" + ") || (last ? last.kind : "linked again");
  shown = now;
  items = items.map((one) => (one.id === now.id ? { ...one, ...now } : one));
  drawItem();
  list();
  get("comment").value = comment;
  complain(`${last ? last.who : "The service"} changed this meanwhile (${what}). Yours is not saved: look at it as it is now, and decide again.`);
}

// --- many at once, afterwards ----------------------------------------------------------------

let acceptable = null;

async function countAcceptable() {
  const least = Number(get("least").value);
  acceptable = null;
  get("bulk-do").disabled = true;
  if (!(least > 0 && least <= 1)) return;
  const found = await ask(`${base}/acceptable?least=${least}`);
  acceptable = { least, expected: found.items };
  const errors = `About ${found.errors.toFixed(1)} of them are expected to be wrong.`;
  get("bulk-text").textContent = `${counted(found.items, "mention")} of ${counted(found.rows, "occurrence")}. ${found.items ? errors : ""}`;
  get("bulk-do").disabled = !found.items;
  get("bulk-do").textContent = `Accept ${number(found.items)}`;
}

async function acceptMany(event) {
  event.preventDefault();
  if (!acceptable || !canWrite()) return;
  await attempt(async () => {
    const { decided: accepted } = await ask(`${base}/accept`, { method: "POST", json: acceptable });
    await readReview();
    await readItems({ keep: false });
    await countAcceptable();
    tell(`${counted(accepted, "mention")} accepted`);
  });
}

// Decide that no mention that the filters leave has a concept.
async function decideNone() {
  if (busy || !canWrite()) return;
  busy = true;
  await attempt(async () => {
    const given = { ...filters(), part: get("part").value, expected: total - gone() };
    if (given.leaf) given.leaf = given.leaf === "true";
    const named = FILTERS.map((one) => get(one)).filter((one) => one.value.trim()).map((one) => `“${(one.selectedOptions?.[0].text || one.value).trim()}”`);
    if (!window.confirm(`Decide of ${counted(given.expected, "mention")}, all with ${named.join(" and ")}, that there is no concept?`)) return;
    const { decided } = await ask(`${base}/none`, { method: "POST", json: given });
    for (const one of FILTERS) get(one).value = "";
    await readReview();
    await readItems({ keep: false });
    tell(`${counted(decided, "mention")}: ${STATES.nil}`);
  });
  busy = false;
}

async function countLessons() {
  const found = await ask(`${base}/lessons`);
  get("lessons-text").textContent = `The decisions hold ${counted(found.names, "name")} that the index lacks, and ${counted(found.forbidden, "proposal")} that it should not make.`;
  get("teach").disabled = !(found.names + found.forbidden);
}

async function teach() {
  if (!canWrite()) return;
  await attempt(async () => {
    const found = await ask(`${base}/lessons`, { method: "POST" });
    tell(`The index has learned ${counted(found.names, "name")} and ${counted(found.forbidden, "forbidden pair")}.`);
    await countLessons();
    await readReview();
  });
}

// Show what a format needs beside the decisions.
function drawExport() {
  for (const one of document.querySelectorAll("#export [data-for]")) one.hidden = !one.dataset.for.split(" ").includes(get("format").value);
  const columns = [make("option", { value: "" }, "none"), ...review.columns.map((one) => make("option", { value: one }, one))];
  if (get("code_column").length !== columns.length) get("code_column").replaceChildren(...columns);
}

async function save(event) {
  event.preventDefault();
  await attempt(async () => {
    const query = new URLSearchParams({ format: get("format").value });
    for (const one of document.querySelectorAll("#export [data-for]:not([hidden]) :is(select, input)")) query.set(one.id, one.value);
    const { blob, name } = await ask(`${base}/export?${query}`, { raw: true });
    const url = URL.createObjectURL(blob);
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
}

async function linkAgain() {
  if (!canWrite()) return;
  await attempt(async () => {
    await ask(`${base}/link`, { method: "POST" });
    await readReview();
  });
}

// --- keys ------------------------------------------------------------------------------------

const KEYS = {
  j: () => go(1),
  k: () => go(-1),
  a: () => shown?.proposal.concepts?.length && decide("link", shown.proposal.concepts.map(({ id, relation }) => ({ id, relation }))),
  n: () => decide("nil"),
  f: () => decide("flag"),
  u: () => decide("undo"),
  s: () => chosen.length && decide("link", chosen.map(({ id, relation }) => ({ id, relation }))),
  c: () => get("comment")?.focus(),
  g: () => get("all-alike")?.click(),
  "/": () => get("another")?.focus(),
};

document.addEventListener("keydown", (event) => {
  const writing = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape" && writing) get("mention").focus();
  if (event.ctrlKey || event.metaKey || event.altKey || writing) return;
  const at = Number(event.key);
  if (at >= 1 && shown?.candidates[at - 1]) {
    event.preventDefault();
    decide("link", [{ id: shown.candidates[at - 1].id, relation: "equal" }]);
  } else if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

for (const one of ["part", "order", "type", "leaf"]) get(one).addEventListener("change", () => attempt(() => readItems({ keep: false })));
let typing = 0;
get("text").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => attempt(() => readItems({ keep: false })), 250);
});
get("none").addEventListener("click", decideNone);
get("more").addEventListener("click", () => attempt(() => readItems({ more: true })));
get("least").addEventListener("input", () => attempt(countAcceptable));
get("bulk").closest("details").addEventListener("toggle", () => attempt(countAcceptable));
get("bulk").addEventListener("submit", acceptMany);
get("teach").closest("details").addEventListener("toggle", () => attempt(countLessons));
get("teach").addEventListener("click", teach);
get("link-again").addEventListener("click", linkAgain);
get("export").addEventListener("submit", save);
get("export").closest("details").addEventListener("toggle", drawExport);
get("format").addEventListener("change", drawExport);
const begin = () => attempt(async () => {
  await readReview();
  if (!review) return; // somebody gave a name meanwhile, and it is read again
  await readTerminology();
  if (!items.length) await readItems();
});
document.addEventListener("who", begin);
begin();
