// All mentions as a table that is sorted by its headers.
import { code, get, make, number, percent } from "./common.js";
import { tier } from "./tiers.js";

const COLUMNS = [
  ["state", "State"], ["text", "Mention"], ["", "Context"], ["frequency", "Rows"], ["concept", "Code"], ["", "Concept"],
  ["confidence", "Confidence"], ["", "By"],
];

export function renderRows(items, total, { sorted, shown, marked, words, mark, sort, more, open }) {
  const falls = sorted.descending !== (sorted.order === "frequency"); // whose natural order begins with the most
  const head = COLUMNS.map(([order, name]) => make(
    "th", { scope: "col", "aria-sort": order && sorted.order === order ? (falls ? "descending" : "ascending") : false },
    order ? make("button", { type: "button", id: `by-${order}`, click: () => sort(order) }, name) : name));
  const focused = document.activeElement?.id;
  get("sheet").replaceChildren(
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, make("span", { class: "hidden" }, "Select")), ...head)),
    make("tbody", {}, ...items.map((one) => cells(one, { shown, marked, words, mark, open }))),
    ...(items.length < total ? [make("tfoot", {}, make("tr", {}, make("td", { colspan: COLUMNS.length + 1 }, make("button", { type: "button", click: more }, `More: ${number(items.length)} of ${number(total)} are shown`))))] : []),
  );
  get("rows-title").textContent = `${number(total)} mentions`;
  if (focused) get(focused)?.focus();
}

function cells(one, { shown, marked, words, mark, open }) {
  const concepts = one.decision?.concepts.length ? one.decision.concepts : one.state === "nil" ? [] : one.proposal.concepts || [];
  const { key } = tier(one);
  const exceptions = one.proposal.status || [];
  return make(
    "tr", { class: key, "data-current": shown?.id === one.id },
    make("td", {}, make("input", { type: "checkbox", id: `mark-${one.id}`, checked: marked.has(one.id), "aria-label": `Select ${one.mention}`, change: () => mark(one) })),
    make("td", {}, make("span", { class: `badge ${one.state}` }, words[one.state])),
    make("td", {}, make("button", { type: "button", class: "link", click: () => open(one) }, one.mention), ...exceptions.map((text) => make("span", { class: "badge doubtful" }, text))),
    make("td", { class: "hint" }, one.context),
    make("td", { class: "number" }, number(one.frequency)),
    make("td", {}, make("code", {}, concepts.map((concept) => code(concept.id)).join(" + "))),
    make("td", {}, concepts.map((concept) => concept.label).join(" + ")),
    make("td", { class: "number" }, one.proposal.concepts?.length && !exceptions.length ? percent(one.confidence) : ""),
    make("td", { class: "hint" }, one.decision?.who ?? ""),
  );
}
