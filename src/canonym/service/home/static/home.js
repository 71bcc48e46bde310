// Links appear as one types: the form is sent, and the results of the page that comes back are shown.
import { ask, attempt, canWrite, complain, counted, get, make, number, tell } from "/review/common.js";

const form = get("ask");
const most = Number(form.dataset.most);
const PLACE = "canonym-typed";
const NO_KEY = "The key is missing, or it is none that is in use. Give it at the top of the page.";
let running = null; // the request whose answer is waited for
let waiting = 0;
let failures = 0;
let answered = null; // what the results belong to

const fields = () => {
  const given = Object.fromEntries(new FormData(form));
  delete given.key; // it goes into a header
  return given;
};

async function update() {
  clearTimeout(waiting);
  running?.abort();
  const mine = (running = new AbortController());
  const given = fields();
  remember(given);
  if (given.text.length > most) return refuse(given.text.length);
  get("results").setAttribute("aria-busy", "true");
  try {
    const html = await ask("/", { method: "POST", form: given, html: true, signal: mine.signal });
    if (running !== mine) return; // another was asked for meanwhile
    failures = 0;
    answered = given;
    draw(html);
    complain("");
  } catch (error) {
    if (running === mine) fail(error);
  } finally {
    if (running === mine) get("results").removeAttribute("aria-busy");
  }
}

function draw(html) {
  const results = document.adoptNode(new DOMParser().parseFromString(html, "text/html").getElementById("results"));
  const focused = get("results").contains(document.activeElement) ? document.activeElement.id || document.activeElement.getAttribute("href") : null;
  get("results").replaceWith(results);
  get("summary").textContent = results.querySelector("[data-summary]")?.dataset.summary ?? "";
  if (focused) (document.getElementById(focused) ?? results.querySelector(`a[href="${CSS.escape(focused)}"]`) ?? get("text")).focus();
}

// What is shown stays, but is marked as that of something else than what stands in the box now.
function fail(error) {
  get("results").classList.add("stale");
  get("summary").textContent = "";
  const status = error.status ?? 0; // of an answer that was cut off, nothing is known
  let again = status === 429 || status === 503 ? error.wait || 5 : 0;
  if (status === 0 || status === 502 || status === 504) again = Math.min(30, 2 ** ++failures);
  const told = { 0: "The service cannot be reached. What you typed is still here.", 401: NO_KEY };
  const what = told[status] ?? sentence(error.message);
  complain(again ? `${what} It is tried again in a few seconds.` : what);
  if (again) waiting = setTimeout(update, again * 1000);
}

function refuse(length) {
  running = null;
  get("results").removeAttribute("aria-busy");
  get("results").classList.add("stale");
  get("summary").textContent = "";
  complain(`${number(length)} characters are too many for this page, which takes ${number(most)}. For a long list, begin a review with a file: choose Reviews above.`);
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

// --- what was typed stays in this tab --------------------------------------------------------

function remember({ text, kind, header }) {
  try {
    if (text) sessionStorage.setItem(PLACE, JSON.stringify({ text, kind, header }));
    else sessionStorage.removeItem(PLACE);
  } catch {
    sessionStorage.removeItem(PLACE); // it is too long to be kept
  }
}

function restore() {
  const { text, kind, header = "" } = JSON.parse(sessionStorage.getItem(PLACE) || "{}");
  if (!text || get("text").value) return false;
  fill(text, { kind, header });
  return true;
}

function fill(text, { kind = "auto", header = "" } = {}) {
  get("text").value = text;
  form.elements.kind.value = kind;
  form.elements.header.value = header;
}

// --- tables in and out -----------------------------------------------------------------------

// A table is read by the service, as a review reads it, and then stands in the box as if pasted.
async function open(file) {
  const isText = /\.(txt|text|md)$/i.test(file.name);
  await attempt(async () => {
    const text = isText ? await file.text() : await ask(`/file?${new URLSearchParams({ name: file.name })}`, { method: "POST", body: file, html: true });
    if (text.length > most) return refuse(text.length);
    fill(text, { header: isText ? "" : "yes" });
    return update();
  });
}

async function copy() {
  await attempt(async () => {
    const cells = await ask("/table", { method: "POST", form: answered, html: true });
    await write(cells);
    tell(`${counted(cells.split("\n").length - 1, "row")} copied: paste them into a sheet.`);
  });
}

// Pages that come without encryption from another machine have no clipboard to write to.
async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const place = make("textarea", { class: "hidden", "aria-hidden": "true" });
  document.body.append(place);
  place.value = text;
  place.select();
  const done = document.execCommand("copy");
  place.remove();
  if (!done) throw new Error("the browser does not let this page copy; use https, or select and copy the rows");
  return undefined;
}

// --- a review --------------------------------------------------------------------------------

async function review(button) {
  if (!canWrite()) return;
  const { name, column, before, context, table } = button.dataset;
  const query = new URLSearchParams({ name, terminology: button.dataset.in, column });
  if (context) query.set("context_column", context);
  const body = table || (before ? `${before}\n${answered.text}` : answered.text);
  button.disabled = true;
  try {
    complain("");
    const made = await ask(`/v1/reviews?${query}`, { method: "POST", body });
    location.assign(`/reviews/${made.id}`);
  } catch (error) {
    complain(error.status === 0 ? "The service cannot be reached: no review was made." : sentence(error.message));
    button.disabled = false;
  }
}

// --- events ----------------------------------------------------------------------------------

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(update, Math.min(3000, 250 + get("text").value.length / 10)); // a text takes long
}

get("text").addEventListener("input", () => {
  form.elements.header.value = "";
  soon();
});
get("open").addEventListener("click", () => get("file").click());
get("file").addEventListener("change", () => {
  const [file] = get("file").files;
  if (file) open(file).finally(() => { get("file").value = ""; }); // the same may be chosen again
});
form.addEventListener("dragover", (event) => event.preventDefault());
form.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  open(event.dataTransfer.files[0]);
});
get("text").addEventListener("paste", (event) => {
  const length = event.clipboardData?.getData("text").length ?? 0;
  if (length <= most) return;
  event.preventDefault(); // a box with so much in it would be slow
  refuse(length);
});
form.addEventListener("change", (event) => {
  if (["text", "file"].includes(event.target.id)) return;
  if (event.target.id === "in") history.replaceState(null, "", `/?${new URLSearchParams({ in: get("in").value })}`);
  update();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const example = event.submitter?.name === "example" && event.submitter.value;
  if (example) {
    fill(example);
    get("text").focus();
  }
  update();
});
form.addEventListener("click", (event) => {
  if (event.target.id === "review") review(event.target);
  if (event.target.id === "copy") copy();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.id === "text") update();
  if (event.key === "/" && !event.target.matches("input, textarea, select")) {
    event.preventDefault();
    get("text").focus();
  }
});
document.addEventListener("who", () => (get("key") ? update() : undefined));

const summary = get("results").querySelector("[data-summary]");
if (summary) answered = fields(); // the page came with links
if (restore() || (form.dataset.locked === "yes" && get("key").value)) update();
