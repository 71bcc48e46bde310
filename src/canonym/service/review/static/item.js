// One item: its row and context, its candidates, what is chosen, and what happened to it.
import { around, describe } from "./concept.js";
import { ask, attempt, counted, get, make, moment, number } from "./common.js";
import { bar, ranked, tier } from "./tiers.js";

const RELATIONS = {
  equal: "an exact match", equivalent: "the same in other words", broader: "broader", narrower: "narrower", close: "close", related: "related",
};
const SIEVES = {
  verbatim: "the name is the same", normalised: "the name is the same but for its form",
  reordered: "the name has the same words", search: "the most similar name",
};
const KINDS = { link: "linked to", accept: "accepted unseen:", nil: "no concept", flag: "flagged", comment: "commented", undo: "took back the decision before", reopen: "reopened this" };
const BESIDES = new Set(["and", "of", "the", "with", "a", "an", "in", "to", "for", "or"]); // words that say nothing

export function render(place, item, tools) {
  const list = ranked(item);
  const parts = [
    make("div", { class: "lead" },
      make("div", { class: "about" },
        make("h2", { id: "mention", tabindex: "-1" }, item.mention),
        make("span", { class: "hint" }, counted(item.frequency, "row")),
        ...(item.proposal.status || []).map((one) => make("span", { class: "badge doubtful" }, one)),
        sureness(item)),
      actions(item, tools)),
    state(item, tools),
    context(item),
    row(item),
    unused(item, list[0]),
    search(item, tools),
    candidates(item, list, tools),
    make("details", { id: "alike", class: "alike", hidden: true }),
    comment(tools),
    history(item),
  ];
  place.replaceChildren(...parts.filter(Boolean));
}

function sureness(item) {
  const { key, word } = tier(item);
  const reason = item.proposal.reason;
  if (key === "likely" || key === "waiting") return word && make("span", { class: "hint" }, word);
  return make("span", {}, word && make("span", { class: `badge ${key}` }, word), reason ? make("span", { class: "hint" }, ` ${reason}`) : "");
}

// --- the row ---------------------------------------------------------------------------------

function context(item) {
  if (!item.context) return null;
  const at = item.context.toLowerCase().indexOf(item.mention.toLowerCase());
  if (at < 0) return make("blockquote", {}, item.context);
  const end = at + item.mention.length;
  return make("blockquote", {}, item.context.slice(0, at), make("mark", {}, item.context.slice(at, end)), item.context.slice(end));
}

// What the rows say in the other columns: "ED 20, MED 5".
function row(item) {
  const columns = (item.columns || []).filter((one) => one.values.some(([value]) => value.trim()));
  if (!columns.length) return null;
  const total = Math.max(...columns.map((one) => one.values.reduce((sum, [, n]) => sum + n, 0)));
  const said = ({ values, different }) => {
    const shown = values.filter(([value]) => value.trim());
    if (different === 1) return shown[0][0];
    const more = different - values.length;
    return `${shown.map(([value, n]) => (total > 1 && n > 1 ? `${value} ${number(n)}` : value)).join(", ")}${more > 0 ? `, ${number(more)} more` : ""}`;
  };
  return make("dl", { class: "row" }, ...columns.map((one) => make("div", {}, make("dt", {}, one.name), make("dd", {}, said(one)))));
}

// Words that the proposal does not account for: what preparation dropped, and what the name lacks.
function unused(item, first) {
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}.]+/gu) || [];
  const dropped = [];
  for (const line of item.proposal.steps || []) {
    const [, name, before, after] = /^([^:]+): (.*) → (.*)$/s.exec(line) || [];
    if (!name || name === "status") continue;
    const left = words(after);
    const lost = words(before).filter((word) => !left.includes(word));
    if (left.every((word) => words(before).includes(word))) dropped.push(...lost);
  }
  if (first?.proposed) dropped.push(...first.against.left_over);
  const told = [...new Set(dropped)].filter((word) => !BESIDES.has(word));
  return told.length ? make("p", { class: "unused" }, "Not used: ", ...told.flatMap((word, n) => [n ? " " : "", make("span", {}, word)])) : null;
}

const named = (one) => `${one.label} (${one.id})${one.relation && one.relation !== "equal" ? `, ${RELATIONS[one.relation]}` : ""}`;

function state(item, { takeBack }) {
  const one = item.decision;
  if (!one) return null;
  const what = one.concepts.map(named).join(" + ");
  return make(
    "p", { class: `state ${item.state}` },
    make("strong", {}, `${KINDS[one.kind]}${what ? ` ${what}` : ""}`),
    one.kind === "reopen" ? `: ${one.comment}` : "",
    make("span", { class: "hint" }, ` ${one.who}, ${moment(one.made)}`),
    make("button", { type: "button", class: "small", click: takeBack }, "Take this back"),
  );
}

function actions(item, { accept, decide }) {
  const n = (item.proposal.concepts || []).length;
  return make(
    "p", { class: "actions" },
    make("button", { type: "button", class: "main", disabled: !n, click: accept, title: "a", "data-key": "a" }, n > 1 ? `Accept all ${n}` : "Accept"),
    make("button", { type: "button", click: () => decide("nil"), title: "n", "data-key": "n" }, "No concept"),
    make("button", { type: "button", click: () => decide("flag"), title: "f", "data-key": "f" }, "Flag"),
    make("span", { id: "with", class: "hint", role: "status" }),
  );
}

// --- candidates ------------------------------------------------------------------------------

function candidates(item, list, tools) {
  const { chosen } = tools;
  const searched = chosen.filter((one) => !list.some((other) => other.id === one.id));
  const taken = (one) => chosen.some((other) => other.id === one.id);
  const likely = list.filter((one) => !one.unlikely || taken(one));
  const unlikely = list.filter((one) => !likely.includes(one));
  const before = searched.length ? make("ol", { class: "candidates searched" }, ...searched.map((one) => candidate(item, { ...one, searchedFor: true }, null, tools))) : null;
  if (!list.length) return make("div", {}, before ?? "", make("p", { class: "hint" }, item.fingerprint ? "No candidate was found." : "Not linked yet: the list is being linked."));
  return make(
    "div", { keydown: (event) => rove(event) },
    before ?? "",
    likely.length ? make("ol", { class: "candidates" }, ...likely.map((one, at) => candidate(item, one, at, tools))) : "",
    unlikely.length ? make("details", { class: "unlikely" },
      make("summary", {}, `${number(unlikely.length)}${likely.length ? " more" : ""}, unlikely`),
      make("ol", { class: "candidates" }, ...unlikely.map((one) => candidate(item, one, null, tools)))) : "",
  );
}

// The arrows go from row to row, and Tab out of them.
function rove(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const rows = [...document.querySelectorAll("#detail .candidates > li")].filter((one) => one.offsetParent);
  const at = rows.findIndex((one) => one.contains(event.target));
  if (!step || at < 0 || event.target.matches("select, input")) return;
  event.preventDefault();
  rows[at + step]?.querySelector("button").focus();
}

const accepts = (one) => [{ id: one.id, relation: "equal" }];

function candidate(item, one, at, tools) {
  const { decide, chosen, redraw, look } = tools;
  const mine = chosen.findIndex((other) => other.id === one.id);
  const key = at !== null && at < 9 ? String(at + 1) : null;
  const matched = one.name && one.name !== one.label ? `“${one.name}”${one.scope === "exact" || one.scope === "label" ? "" : ` (${one.scope})`}` : "";
  const facts = [matched, one.parents?.length ? `below ${one.parents.join(", ")}` : "", one.part ? `for “${one.part}”` : ""].filter(Boolean).join(" · ");
  const title = one.chance === null ? "The bar shows how near its name is, beside the first; there is no number for its chance." : "The chance that it is right";
  return make(
    "li", { class: [one.proposed ? "proposed" : "", mine < 0 ? "" : "chosen"].join(" ").trim() || false, focusin: () => look(one), click: () => look(one) },
    make("button", { type: "button", class: "accept", "data-number": key ?? false, title: "Accept it", "aria-label": `Accept ${one.label}`, click: () => decide("link", accepts(one)) }, key ? make("kbd", { "aria-hidden": "true" }, key) : "✓"),
    make("div", { class: "name" },
      make("p", { class: "head" }, make("strong", {}, one.label), " ", make("code", {}, one.id), one.deprecated ? make("span", { class: "badge reopened" }, "deprecated") : null),
      one.against?.contradictions.length ? make("p", { class: "contradiction" }, against(one)[0]) : null,
      one.searchedFor ? null : make("details", { toggle: (event) => event.target.open && open(event.target, one, tools) }, make("summary", { class: "hint" }, facts || "why"), why(item, one), make("div", { class: "described" }))),
    one.searchedFor ? make("span", {}) : bar(one.share, { chance: one.chance, title }),
    make("button", { type: "button", class: "small", "aria-label": `Choose ${one.label}, with a relation or beside others`, title: "broader, narrower, close … or several concepts together", "aria-expanded": mine < 0 ? "false" : "true", click: () => { if (mine < 0) add(chosen, one); else chosen.splice(mine, 1); redraw(mine < 0 ? one.id : ""); } }, mine < 0 ? "Choose …" : "Remove"),
    mine < 0 ? null : choice(mine, tools),
  );
}

// What belongs to the concept is shown in its row where there is no third pane.
function open(details, one, { terminology, choose }) {
  const place = details.querySelector(".described");
  if (!place.childElementCount) describe(place, one.id, { terminology, choose, brief: true });
}

// The relation of a chosen concept, in the row of the concept.
function choice(at, tools) {
  const { chosen, save } = tools;
  const one = chosen[at];
  const last = at === chosen.length - 1;
  return make(
    "div", { class: "choice", "data-chosen": one.id },
    make("label", { for: `relation-${at}` }, "The concept is"),
    make("select", { id: `relation-${at}`, change: (event) => { one.relation = event.target.value; } },
      ...Object.entries(RELATIONS).map(([value, text]) => make("option", { value, selected: value === one.relation }, text))),
    last ? make("button", { id: "save", type: "button", class: "main", "data-key": "s", click: save }, chosen.length > 1 ? `Save these ${chosen.length}` : "Save this") : null,
    around(one, at, tools),
  );
}

function why(item, one) {
  const steps = item.proposal.steps || [];
  const scores = Object.entries(one.scores).map(([name, score]) => `${name} ${score.toFixed(4)}`);
  const lines = [...steps, `looked up as “${one.searched || item.mention}”`, `found by ${SIEVES[one.sieve] || one.sieve}, “${one.name}”`, ...against(one), scores.length ? `similarity: ${scores.join(", ")}` : ""];
  return make("ul", { class: "why" }, ...lines.filter(Boolean).map((line) => make("li", {}, line)));
}

function against({ against }) {
  if (!against) return [];
  const words = (list, what) => (list.length ? [`${what}: ${list.join(", ")}`] : []);
  return [
    ...against.contradictions.map(({ kind, mention, name }) => `contradiction (${kind}): “${mention || "nothing"}” of the mention, “${name || "nothing"}” of the name`),
    ...words(against.left_over, "words of the mention that the name lacks"),
    ...words(against.missing, "words of the name that the mention lacks"),
  ];
}

export function add(chosen, { id, label }) {
  if (!chosen.some((one) => one.id === id)) chosen.push({ id, label, relation: "equal" });
}

// --- what may mean the same ------------------------------------------------------------------

// Show which mentions are decided with this one; `choose` takes the ids of all of them.
export function renderAlike({ alike }, picked, choose) {
  const place = get("alike");
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  place.hidden = !alike.length;
  if (!alike.length) return;
  get("with").textContent = picked.size ? `and ${number(picked.size)} more, below` : "";
  const all = picked.size < alike.length;
  const boxes = alike.map((one) => {
    const toggle = () => choose(new Set(picked.has(one.id) ? [...picked.keys()].filter((id) => id !== one.id) : [...picked.keys(), one.id]));
    const times = `×${number(one.frequency)}`;
    return make("li", {}, make("label", {}, make("input", { id: `alike-${one.id}`, type: "checkbox", checked: picked.has(one.id), change: toggle }), ` ${one.mention} `, make("span", { class: "hint" }, one.context ? `${times} · ${one.context}` : times)));
  });
  place.replaceChildren(
    make("summary", {}, `Also decide: ${number(picked.size)} of ${number(alike.length)} with the same proposal`),
    make("button", { id: "all-alike", type: "button", class: "small", title: "g", "data-key": "g", click: () => choose(new Set(all ? alike.map((one) => one.id) : [])) }, all ? `Take all ${number(alike.length)}` : "Take none"),
    make("ul", {}, ...boxes),
  );
  place.open = true;
  if (focused) document.getElementById(focused)?.focus();
}

// --- another concept -------------------------------------------------------------------------

function search(item, { choose, chosen, decide, look, terminology }) {
  const results = make("ul", { id: "found", role: "listbox", "aria-label": "Concepts found", hidden: true });
  const told = make("p", { id: "found-none", class: "hint", role: "status" });
  const input = make("input", {
    id: "another", role: "combobox", autocomplete: "off", "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list",
    "aria-label": "Another concept", placeholder: "Another concept: words of a name, or a code", title: "Enter accepts it, Shift Enter chooses it with a relation or beside others",
  });
  let hits = [];
  let answered = ""; // what they are the answer to
  let at = -1;
  let waiting = 0;
  let asked = 0;

  function draw() {
    results.replaceChildren(...hits.map((one, n) => make(
      "li", { id: `found-${n}`, role: "option", "aria-selected": n === at ? "true" : "false", mousedown: (event) => { event.preventDefault(); choose(one); } },
      make("strong", {}, one.label), " ", make("code", {}, one.id), one.name === one.label ? "" : ` “${one.name}”`,
    )));
    results.hidden = !hits.length;
    input.setAttribute("aria-expanded", String(Boolean(hits.length)));
    if (at >= 0) input.setAttribute("aria-activedescendant", `found-${at}`);
    else input.removeAttribute("aria-activedescendant");
    if (hits[at]) look(hits[at]);
  }

  async function find() {
    const prefix = input.value.trim();
    const turn = ++asked;
    told.textContent = prefix ? "Searching …" : "";
    const query = new URLSearchParams({ prefix, terminology, anywhere: true });
    const answer = prefix ? (await ask(`/v1/search?${query}`)).concepts : [];
    if (turn !== asked) return; // more was typed meanwhile
    hits = answer;
    answered = prefix;
    at = -1;
    told.textContent = prefix && !hits.length ? `No concept has a name with “${prefix}”. Try fewer words, or a code.` : "";
    draw();
  }

  const soon = (after) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => attempt(find).finally(() => { if (told.textContent.startsWith("Searching")) told.textContent = ""; }), after);
  };
  input.addEventListener("input", () => soon(120));
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.length) {
      event.preventDefault();
      at = (at + step + hits.length) % hits.length;
      draw();
    } else if (event.key === "Enter") {
      event.preventDefault();
      const one = hits[Math.max(at, 0)];
      if (answered !== input.value.trim()) soon(0); // nobody has seen what that would be
      else if (one && (event.shiftKey || chosen.length)) choose(one);
      else if (one) decide("link", accepts(one));
    }
  });
  input.addEventListener("blur", () => { hits = []; at = -1; draw(); });
  return make("div", { class: "search", "data-key": "/" }, input, results, told);
}

function comment({ decide }) {
  return make(
    "div", { class: "comment" },
    make("label", { for: "comment" }, "Comment"),
    make("div", { class: "line" },
      make("textarea", { id: "comment", rows: 1, maxlength: 4000 }),
      make("button", { type: "button", click: () => decide("comment") }, "Add comment")),
  );
}

function history(item) {
  if (!item.history.length) return null;
  const lines = [...item.history].reverse().map((one) => make(
    "li", {},
    make("strong", {}, one.who), ` ${KINDS[one.kind]} ${one.concepts.map(named).join(" + ")}`,
    one.comment ? make("q", {}, one.comment) : null,
    make("span", { class: "hint" }, ` ${moment(one.made)}`),
  ));
  return make("div", { class: "history" }, make("h3", {}, "History"), make("ol", {}, ...lines));
}
