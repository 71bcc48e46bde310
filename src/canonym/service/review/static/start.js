// Where a review begins, and the list of all reviews.
import { ask, canWrite, complain, counted, done, get, make, moment, number, tell } from "./common.js";

const given = () => get("file").files[0] || (get("pasted").value.trim() ? get("pasted").value : null);
const filename = () => (get("file").files[0] ? get("file").files[0].name : "");
const guesses = {
  column: /mention|term|diagnos|name|text|label|condition/i,
  context_column: /context|sentence|note/i,
  frequency_column: /^(n|count|freq.*|number|occurrences|patients|visits|cases)$/i,
};

const LAYOUT = ["sheet", "header_row", "separator"];
const isWorkbook = () => /\.(xlsx|xlsm|ods)$/i.test(filename());
let running = null; // the request whose answer is waited for
let sending = false;

// How the table is to be read, as far as somebody says it.
function layout() {
  const parts = LAYOUT.map((id) => [id, get(id).value.trim()]).filter(([, value]) => value);
  return { filename: filename(), ...Object.fromEntries(parts) };
}

// What was said of another table does not hold for this one.
function change() {
  get("sheet").replaceChildren();
  for (const id of LAYOUT) get(id).value = "";
  preview();
}

function drawSheets(sheets) {
  get("of-workbook").hidden = sheets.length < 2;
  if (get("sheet").length === sheets.length) return;
  get("sheet").replaceChildren(...sheets.map((one) => make("option", { value: one }, one)));
}

// The button is there as soon as there is a list, and waits until the list is read.
function drawBegin(what, { wait = false, ready = false } = {}) {
  get("starting").hidden = given() === null;
  get("start").disabled = !ready;
  get("reading").hidden = !wait;
  get("told-of-table").textContent = what;
}

async function preview() {
  if (sending) return;
  running?.abort();
  get("layout").hidden = given() === null;
  get("of-text").hidden = isWorkbook();
  if (given() === null) {
    for (const one of ["choices", "shown"]) get(one).hidden = true;
    drawBegin("");
    return;
  }
  const mine = (running = new AbortController());
  drawBegin("Reading the table …", { wait: true });
  try {
    complain("");
    if (!canWrite()) return drawBegin("");
    const query = new URLSearchParams(layout());
    const table = await ask(`/v1/tables?${query}`, { method: "POST", body: given(), signal: mine.signal });
    if (running === mine) drawTable(table);
  } catch (error) {
    if (running !== mine) return; // another was read meanwhile
    for (const one of ["choices", "shown"]) get(one).hidden = true;
    drawBegin("This cannot be read.");
    complain(error.message);
  }
}

function drawTable(table) {
  drawSheets(table.sheets);
  const head = make("tr", {}, ...table.columns.map((one) => make("th", { scope: "col" }, one)));
  const rows = table.rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, cell))));
  get("preview").replaceChildren(make("caption", {}, `${counted(table.n_rows, "row")}, the first of them:`), make("thead", {}, head), make("tbody", {}, ...rows));
  const taken = new Set();
  for (const [id, wanted] of Object.entries(guesses)) {
    const options = table.columns.map((one) => make("option", { value: one }, one));
    if (id !== "column") options.unshift(make("option", { value: "" }, "none"));
    get(id).replaceChildren(...options);
    const guess = table.columns.find((one) => wanted.test(one) && !taken.has(one));
    if (guess && table.columns.length > 1) get(id).value = guess;
    taken.add(get(id).value);
  }
  get("name").value ||= filename().replace(/\.\w+$/, "") || "Pasted list";
  for (const one of ["choices", "shown"]) get(one).hidden = false;
  drawBegin(`${counted(table.n_rows, "row")}`, { ready: true });
}

async function begin(event) {
  event.preventDefault();
  if (sending || given() === null || !canWrite()) return;
  sending = true;
  drawBegin("Beginning the review …", { wait: true });
  try {
    complain("");
    const query = new URLSearchParams(layout());
    for (const id of ["name", "terminology", ...Object.keys(guesses)]) query.set(id, get(id).value);
    const review = await ask(`/v1/reviews?${query}`, { method: "POST", body: given() });
    location.assign(`/reviews/${review.id}`);
  } catch (error) {
    sending = false;
    drawBegin("", { ready: true });
    complain(error.message);
  }
}

// --- all reviews -----------------------------------------------------------------------------

async function list() {
  try {
    const { reviews } = await ask("/v1/reviews");
    const here = reviews.filter((one) => !one.shelf);
    const archived = reviews.filter((one) => one.shelf);
    get("reviews").replaceChildren(...(here.length ? here.map(card) : [make("li", { class: "hint" }, reviews.length ? "All reviews are archived." : "None yet: choose a table above, or paste a list.")]));
    get("archived").replaceChildren(...archived.map(card));
    get("archive").hidden = !archived.length;
    get("archived-title").textContent = `Archived (${number(archived.length)})`;
  } catch (error) {
    complain(error.message);
  }
}

function card(one) {
  const title = make("a", { href: `/reviews/${one.id}` }, one.name);
  const n = done(one);
  const last = one.changed ? `last decided by ${one.changed_by}, ${moment(one.changed)}` : "nothing decided yet";
  const file = (shelf, what) => () => shelve(one, shelf, what);
  return make(
    "li", { "data-review": one.id },
    make("div", { class: "title" }, title, make("span", { class: "hint" }, one.terminology)),
    make("span", { class: "hint" }, `begun by ${one.created_by}, ${moment(one.created)} · ${last}`),
    make("span", {}, `${number(n)} of ${counted(one.total, "mention")} decided`),
    make("progress", { max: one.total, value: n, "aria-label": `Decided of ${one.name}` }),
    make("p", { class: "actions" },
      make("button", { type: "button", class: "small", "aria-label": `Rename ${one.name}`, click: (event) => rename(one, event.target.closest("li")) }, "Rename"),
      one.shelf ? make("button", { type: "button", class: "small", "aria-label": `Take ${one.name} out of the archive`, click: file("", "is back") }, "Unarchive")
        : make("button", { type: "button", class: "small", "aria-label": `Archive ${one.name}`, click: file("archived", "is archived") }, "Archive"),
      make("button", { type: "button", class: "small", "aria-label": `Delete ${one.name}`, title: "Hides it from everybody; what was decided stays in the database", click: file("deleted", "is deleted") }, "Delete")),
  );
}

async function put(one, changes) {
  if (!canWrite()) return false;
  try {
    complain("");
    await ask(`/v1/reviews/${one.id}`, { method: "PATCH", json: changes });
    await list();
    return true;
  } catch (error) {
    complain(error.message);
    return false;
  }
}

async function shelve(one, shelf, what) {
  const back = async () => { if (await put(one, { shelf: one.shelf })) tell(`${one.name} is where it was`); };
  if (await put(one, { shelf })) tell(`${one.name} ${what}`, { work: back });
}

function rename(one, place) {
  const input = make("input", { value: one.name, maxlength: 300, "aria-label": `New name of ${one.name}` });
  const save = async (event) => {
    event.preventDefault();
    if (input.value.trim() && (await put(one, { name: input.value }))) tell("Renamed", { work: () => put(one, { name: one.name }) });
  };
  place.querySelector(".title").replaceChildren(make("form", { class: "line", submit: save }, input, make("button", { type: "submit", class: "small" }, "Save"), make("button", { type: "button", class: "small", click: list }, "Cancel")));
  input.select();
}

let typing = 0;
get("pasted").addEventListener("input", () => {
  clearTimeout(typing);
  drawBegin("", {});
  typing = setTimeout(change, 250);
});
get("file").addEventListener("change", change);
for (const id of LAYOUT) get(id).addEventListener("change", preview);
get("new").addEventListener("submit", begin);
document.addEventListener("who", () => {
  list();
  preview();
});
list();
