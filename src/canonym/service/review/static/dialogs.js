// What is done with many at once, and afterwards: accept, export, teach.
import { ask, attempt, canWrite, code, complain, counted, get, make, number, percent, tell } from "./common.js";

const SHOWN = 100;

export function openDialogs({ base, review, undo, readAll }) {
  const opening = { many: countAcceptable, exporting: drawExport, teaching: countLessons };
  let acceptable = null;
  let asked = 0;

  function open(name) {
    if (!review()) return;
    complain("");
    get(name).showModal();
    if (opening[name]) attempt(opening[name]);
  }

  // --- many at once --------------------------------------------------------------------------

  async function countAcceptable() {
    const least = Number(get("least").value) / 100;
    const turn = ++asked;
    acceptable = null;
    get("bulk-do").disabled = true;
    if (!(least > 0 && least <= 1)) return;
    get("bulk-text").textContent = "Counting …";
    const [found, { items }] = await Promise.all([
      ask(`${base}/acceptable?least=${least}`),
      ask(`${base}/items?${new URLSearchParams({ least, limit: SHOWN })}`),
    ]);
    if (turn !== asked) return; // another threshold was given meanwhile
    acceptable = { least, found, without: new Set() };
    get("taken").replaceChildren(
      ...items.map(taken),
      ...(found.items > items.length ? [make("li", { class: "hint" }, `… and ${counted(found.items - items.length, "mention")} that are surer.`)] : []),
    );
    drawAcceptable();
  }

  // A mention that would be accepted; without its tick it stays to do.
  function taken(one) {
    const toggle = (event) => {
      if (event.target.checked) acceptable.without.delete(one.id);
      else acceptable.without.add(one.id);
      drawAcceptable();
    };
    const concepts = one.proposal.concepts.map((concept) => `${code(concept.id)} ${concept.label}`).join(" + ");
    return make("li", {}, make("label", {}, make("input", { type: "checkbox", checked: true, change: toggle }), make("strong", {}, one.mention), make("span", {}, concepts), make("span", { class: "hint" }, percent(one.confidence))));
  }

  function drawAcceptable() {
    const { found, without } = acceptable;
    const n = found.items - without.size;
    const errors = `About ${found.errors.toFixed(1)} of them are expected to be wrong; the least sure stand first.`;
    get("bulk-text").textContent = found.items ? `${counted(found.items, "mention")} of ${counted(found.rows, "occurrence")}. ${errors}` : "No mention to do is that sure. Try a lower confidence.";
    get("bulk-do").disabled = !n;
    get("bulk-do").textContent = `Accept ${number(n)}`;
  }

  async function acceptMany(event) {
    event.preventDefault();
    if (!acceptable) return;
    get("many").close();
    if (!canWrite()) return;
    const { least, found, without } = acceptable;
    acceptable = null;
    await attempt(async () => {
      const json = { least, without: [...without], expected: found.items - without.size };
      const { decided } = await ask(`${base}/accept`, { method: "POST", json });
      await readAll();
      tell(`${counted(decided, "mention")} accepted`, { label: `Undo ${number(decided)}`, work: undo });
    });
  }

  // --- afterwards ----------------------------------------------------------------------------

  async function countLessons() {
    get("lessons-text").textContent = "Counting …";
    const found = await ask(`${base}/lessons`);
    get("lessons-text").textContent = `The decisions hold ${counted(found.names, "name")} that the index lacks, and ${counted(found.forbidden, "proposal")} that it should not make.`;
    get("teach").disabled = !(found.names + found.forbidden);
  }

  async function teach() {
    if (!canWrite()) return;
    get("teach").disabled = true;
    await attempt(async () => {
      const found = await ask(`${base}/lessons`, { method: "POST" });
      get("teaching").close();
      tell(`The index has learned ${counted(found.names, "name")} and ${counted(found.forbidden, "forbidden pair")}.`);
      await readAll();
    });
  }

  // Show what a format needs beside the decisions.
  function drawExport() {
    for (const one of document.querySelectorAll("#export [data-for]")) one.hidden = !one.dataset.for.split(" ").includes(get("format").value);
    const columns = [make("option", { value: "" }, "none"), ...review().columns.map((one) => make("option", { value: one }, one))];
    if (get("code_column").length !== columns.length) get("code_column").replaceChildren(...columns);
  }

  function save(event) {
    event.preventDefault();
    const fields = [...document.querySelectorAll("#export [data-for]:not([hidden]) :is(select, input)")];
    return download({ format: get("format").value, ...Object.fromEntries(fields.map((one) => [one.id, one.value])) });
  }

  async function download(choices) {
    await attempt(async () => {
      const query = new URLSearchParams(choices);
      const { blob, name } = await ask(`${base}/export?${query}`, { raw: true });
      get("exporting").close();
      const url = URL.createObjectURL(blob);
      make("a", { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
      tell(`${name} is in your downloads.`);
    });
  }

  for (const one of document.querySelectorAll("[data-opens]")) if (one.dataset.opens !== "palette") one.addEventListener("click", () => open(one.dataset.opens));
  for (const one of document.querySelectorAll("[data-closes]")) one.addEventListener("click", () => get(one.dataset.closes).close());
  for (const one of document.querySelectorAll("dialog")) one.addEventListener("click", (event) => event.target === one && one.close()); // beside it
  let typing = 0;
  get("least").addEventListener("input", () => {
    clearTimeout(typing);
    asked++; // what is listed, or on its way, belongs to another threshold
    acceptable = null;
    get("bulk-do").disabled = true;
    typing = setTimeout(() => attempt(countAcceptable), 200);
  });
  get("bulk").addEventListener("submit", acceptMany);
  get("teach").addEventListener("click", teach);
  get("export").addEventListener("submit", save);
  for (const one of document.querySelectorAll("[data-format]")) one.addEventListener("click", () => download({ format: one.dataset.format }));
  get("format").addEventListener("change", drawExport);
  return { open };
}
