// How sure a proposal is, in three tiers; only exceptions have a word and a colour in a list.
import { get, make, percent } from "./common.js";

const LEAST = Number(get("review")?.dataset.least ?? 0.85); // what needs no review
const DOUBTFUL = 0.6;
const UNLIKELY = 0.8; // of the best score of its part; below, a candidate is folded

export function tier({ proposal, confidence }) {
  const { concepts, status = [] } = proposal;
  if (!concepts) return { key: "waiting", word: "not linked yet" };
  if (!concepts.length) return { key: "none", word: status?.length ? "" : "nothing fits" };
  if (status?.length) return { key: "doubtful", word: "" }; // the status says why
  if (confidence < DOUBTFUL) return { key: "doubtful", word: "doubtful" };
  if (confidence < LEAST || proposal.by_hand) return { key: "check", word: "check" };
  return { key: "likely", word: "likely right" };
}

// A bar of a share from 0 to 1. The number beside it is a probability, or nothing.
export function bar(share, { chance = null, title = "" } = {}) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" })) svg.setAttribute(name, value);
  for (const [name, value] of Object.entries({ width: Math.max(1, 100 * share), height: 8 })) rect.setAttribute(name, value);
  svg.append(rect);
  const said = chance === null ? "" : make("span", {}, make("span", { class: "hidden" }, "confidence "), percent(chance));
  return make("span", { class: `sure${chance === null ? " near" : ""}`, title }, svg, said);
}

// Candidates with the length of their bars. Only the first of an answer has a chance of being right;
// the others are drawn shorter by how much farther their names are.
export function ranked(item) {
  const proposed = new Set((item.proposal.concepts || []).map((one) => one.id));
  const meant = proposed.size || item.proposal.status?.length;
  const sure = item.proposal.confidence ?? null;
  const best = {};
  for (const one of item.candidates) best[one.part] = Math.max(best[one.part] ?? 0, one.score);
  const first = {};
  return item.candidates.map((one) => {
    const top = best[one.part] || 1;
    const leads = (first[one.part] ??= one.id) === one.id;
    const near = Math.max(0, 1 - (top - one.score) / (0.4 * top));
    const chance = leads && (proposed.size < 2 || !proposed.has(one.id)) ? sure : null;
    const unlikely = !proposed.has(one.id) && (!meant || one.score < UNLIKELY * top || Boolean(one.against?.contradictions.length));
    return { ...one, proposed: proposed.has(one.id), chance, share: (sure ?? 1) * near, unlikely };
  });
}
