// A concept: its names, its definition, and what stands above and below it.
import { ask, attempt, make, number } from "./common.js";

const FEW = 12; // names or children
const read = new Map(); // promises by address

function fetchConcept(id, terminology, quiet) {
  const address = `/v1/concepts/${encodeURIComponent(id)}?${new URLSearchParams({ terminology })}`;
  if (!read.has(address)) {
    if (read.size > 500) read.clear();
    const answer = ask(address, { quiet });
    answer.catch(() => read.delete(address));
    read.set(address, answer);
  }
  return read.get(address);
}

const others = (concepts, click) => make("ul", { class: "others" }, ...concepts.map((one) => make(
  "li", {}, make("button", { type: "button", click: () => click(one) }, `${one.label} `, make("code", {}, one.id)))));

const below = ({ children, n_children: n }) => `Below${n > children.length ? ` (the first ${number(children.length)} of ${number(n)})` : ""}`;

let wanted = "";

// Describe a concept in a place; `choose` takes one of its neighbours in its stead.
export async function describe(place, id, { terminology, choose, brief = false }) {
  const own = brief ? null : (wanted = id);
  await attempt(async () => {
    const one = await fetchConcept(id, terminology, true);
    if (own !== null && own !== wanted) return; // another is looked at meanwhile
    const names = [...new Set(one.names.map((name) => name.text))].filter((text) => text !== one.label);
    const more = names.length - FEW;
    place.replaceChildren(...[
      brief ? null : make("h2", { id: "concept-title" }, one.label, " ", make("code", {}, one.id)),
      one.deprecated ? make("p", { class: "contradiction" }, "Deprecated", one.replaced_by.length ? `, replaced by ${one.replaced_by.join(", ")}` : "") : null,
      !brief && one.types.length ? make("p", { class: "hint" }, one.types.join(" · ")) : null,
      one.definition ? make("p", { class: "definition" }, one.definition) : null,
      one.parents.length ? make("h3", {}, "Above") : null,
      one.parents.length ? others(one.parents, choose) : null,
      one.children.length ? make("h3", {}, below(one)) : null,
      one.children.length ? others(one.children.slice(0, brief ? FEW : 50), choose) : null,
      names.length ? make("h3", {}, "Also called") : null,
      names.length ? make("ul", { class: "words" }, ...names.slice(0, brief ? FEW : 40).map((text) => make("li", {}, text)), brief && more > 0 ? make("li", { class: "hint" }, `${number(more)} more`) : null) : null,
      make("p", {}, make("a", { href: `/concepts/${encodeURIComponent(terminology)}/${encodeURIComponent(one.id)}`, target: "_blank" }, "The page of this concept")),
    ].filter(Boolean));
  });
}

// What stands above and below a chosen concept, each to be chosen in its place.
export function around(one, at, { chosen, redraw, terminology }) {
  const place = make("div", {});
  const swap = (other) => {
    if (chosen.some((already) => already.id === other.id)) return;
    chosen[at] = { id: other.id, label: other.label, relation: "equal", around: true };
    redraw(other.id);
  };
  const draw = async () => {
    const found = await fetchConcept(one.id, terminology);
    const line = (text, concepts) => concepts.length ? make("div", { class: "around" }, make("span", { class: "hint" }, text), others(concepts, swap)) : null;
    const lines = [line("Above", found.parents), line(below(found), found.children)].filter(Boolean);
    place.replaceChildren(...(lines.length ? lines : [make("p", { class: "hint" }, "Nothing is above or below it.")]));
  };
  if (one.around) attempt(draw);
  const details = make("details", { open: Boolean(one.around), toggle: () => {
    if (details.open && !one.around) attempt(draw);
    one.around = details.open;
  } }, make("summary", { class: "hint" }, "Above and below"), place);
  return details;
}
