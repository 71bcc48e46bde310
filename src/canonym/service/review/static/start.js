import { ask, attempt, canWrite, counted, done, get, make, number } from "./common.js";

const given = () => get("file").files[0] || (get("pasted").value.trim() ? get("pasted").value : null);
const filename = () => (get("file").files[0] ? get("file").files[0].name : "");
const guesses = {
  column: /mention|term|diagnos|name|text|label|condition/i,
  context_column: /context|sentence|note/i,
  frequency_column: /^(n|count|freq.*|number|occurrences|patients|visits|cases)$/i,
};

const LAYOUT = ["sheet", "header_row", "separator"];
const isWorkbook = () => /\.(xlsx|xlsm|ods)$/i.test(filename());

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

async function preview() {
  get("choices").hidden = true;
  get("layout").hidden = given() === null;
  get("of-text").hidden = isWorkbook();
  if (given() === null) return;
  await attempt(async () => {
    if (!canWrite()) return;
    const query = new URLSearchParams(layout());
    const table = await ask(`/v1/tables?${query}`, { method: "POST", body: given() });
    drawSheets(table.sheets);
    const head = make("tr", {}, ...table.columns.map((one) => make("th", { scope: "col" }, one)));
    const rows = table.rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, cell))));
    get("preview").replaceChildren(
      make("caption", {}, `${counted(table.n_rows, "row")}, the first of them:`),
      make("thead", {}, head),
      make("tbody", {}, ...rows),
    );
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
    get("choices").hidden = false;
  });
}

async function begin(event) {
  event.preventDefault();
  if (given() === null || !canWrite()) return;
  await attempt(async () => {
    const query = new URLSearchParams(layout());
    for (const id of ["name", "terminology", ...Object.keys(guesses)]) query.set(id, get(id).value);
    const review = await ask(`/v1/reviews?${query}`, { method: "POST", body: given() });
    location.assign(`/reviews/${review.id}`);
  });
}

async function list() {
  await attempt(async () => {
    const { reviews } = await ask("/v1/reviews");
    const cards = reviews.map((one) =>
      make(
        "li",
        {},
        make("a", { href: `/reviews/${one.id}` }, one.name),
        make("span", { class: "hint" }, `${one.terminology}, by ${one.created_by}, ${new Date(one.created * 1000).toLocaleDateString("en-GB")}`),
        make("span", {}, `${number(done(one))} of ${counted(one.total, "mention")} decided`),
        make("progress", { max: one.total, value: done(one), "aria-label": `Decided of ${one.name}` }),
      ),
    );
    if (!cards.length) cards.push(make("li", { class: "hint" }, "None yet."));
    get("reviews").replaceChildren(...cards);
  });
}

for (const id of ["file", "pasted"]) get(id).addEventListener("change", change);
for (const id of LAYOUT) get(id).addEventListener("change", preview);
get("new").addEventListener("submit", begin);
document.addEventListener("who", () => {
  list();
  preview();
});
list();
