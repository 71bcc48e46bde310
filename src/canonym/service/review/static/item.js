// One item: its context, its candidates, what is chosen, and what happened to it.
import { ask, attempt, get, make, number, percent } from "./common.js";

const RELATIONS = {
  equal: "the same", equivalent: "the same in other words", broader: "broader", narrower: "narrower", close: "nearly the same", related: "related",
};
const SIEVES = {
  verbatim: "the name is the same", normalised: "the name is the same but for its form",
  reordered: "the name has the same words", search: "the most similar name",
};
const KINDS = { link: "linked to", accept: "accepted with others, unseen:", nil: "no concept", flag: "flagged", comment: "commented", undo: "undid the decision before", reopen: "opened this again" };

export function render(place, item, tools) {
  const parts = [
    make("div", { class: "about" },
      make("h2", { id: "mention", tabindex: "-1" }, item.mention),
      make("p", { class: "hint" }, `occurs ${number(item.frequency)} ${item.frequency === 1 ? "time" : "times"}`, item.proposal.reason ? ` · ${item.proposal.reason}` : "")),
    context(item),
    state(item),
    actions(item, tools),
    candidates(item, tools),
    make("div", { class: "beside" }, search(item, tools), comment(tools)),
    basket(item, tools),
    make("details", { id: "alike", class: "alike", hidden: true }),
    history(item),
  ];
  place.replaceChildren(...parts.filter(Boolean));
}

function context(item) {
  if (!item.context) return null;
  const at = item.context.toLowerCase().indexOf(item.mention.toLowerCase());
  if (at < 0) return make("blockquote", {}, item.context);
  const end = at + item.mention.length;
  return make("blockquote", {}, item.context.slice(0, at), make("mark", {}, item.context.slice(at, end)), item.context.slice(end));
}

const named = (one) => `${one.label} (${one.id})${one.relation && one.relation !== "equal" ? `, ${RELATIONS[one.relation]}` : ""}`;
const moment = (seconds) => new Date(seconds * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

function state(item) {
  const one = item.decision;
  if (!one) return null;
  const what = one.concepts.map(named).join(" + ");
  return make(
    "p", { class: `state ${item.state}` },
    make("strong", {}, `${KINDS[one.kind]}${what ? ` ${what}` : ""}`),
    one.kind === "reopen" ? `: ${one.comment}` : "",
    make("span", { class: "hint" }, ` ${one.who}, ${moment(one.made)}`),
  );
}

function actions(item, { decide }) {
  const proposed = item.proposal.concepts || [];
  const accept = () => decide("link", proposed.map(({ id, relation }) => ({ id, relation })));
  const what = proposed.length > 1 ? `Accept all ${proposed.length}` : "Accept";
  return make(
    "p", { class: "actions" },
    make("button", { type: "button", class: "main", disabled: !proposed.length, click: accept, title: "a" }, what),
    make("button", { type: "button", click: () => decide("nil"), title: "n" }, "No concept"),
    make("button", { type: "button", click: () => decide("flag"), title: "f" }, "Flag"),
    make("button", { type: "button", disabled: !item.decision, click: () => decide("undo"), title: "u" }, "Undo"),
    make("span", { id: "with", class: "hint", role: "status" }),
  );
}

function candidates(item, tools) {
  if (!item.candidates.length) return make("p", { class: "hint" }, item.fingerprint ? "No candidate was found." : "Not linked yet.");
  return make("ol", { class: "candidates" }, ...item.candidates.map((one, at) => candidate(item, one, at, tools)));
}

function candidate(item, one, at, { decide, chosen, redraw }) {
  const proposed = (item.proposal.concepts || []).some((other) => other.id === one.id);
  const certain = proposed && item.proposal.confidence !== null ? `confidence ${percent(item.proposal.confidence)}` : `score ${one.score.toFixed(2)}`;
  const matched = `“${one.name}”${one.scope === "exact" || one.scope === "label" ? "" : ` (${one.scope})`}`;
  const facts = [certain, one.name === one.label ? "" : matched, one.parents.length ? `below ${one.parents.join(", ")}` : ""];
  return make(
    "li", { class: proposed ? "proposed" : false },
    make("p", { class: "head" }, make("strong", {}, one.label), " ", make("code", {}, one.id), one.deprecated ? make("span", { class: "badge reopened" }, "deprecated") : null, one.part ? make("span", { class: "hint" }, ` for “${one.part}”`) : null),
    make(
      "p", { class: "actions" },
      make("button", { type: "button", "aria-label": `Accept ${one.label}`, click: () => decide("link", [{ id: one.id, relation: "equal" }]) }, make("kbd", { "aria-hidden": "true" }, at < 9 ? String(at + 1) : ""), " Accept"),
      make("button", { type: "button", "aria-label": `Choose ${one.label}, with a relation or beside others`, title: "broader, narrower, nearly the same … or several concepts together", disabled: chosen.some((other) => other.id === one.id), click: () => { add(chosen, one); redraw(); } }, "Choose …"),
    ),
    one.against && one.against.contradictions.length ? make("p", { class: "contradiction" }, against(one)[0]) : null,
    one.definition ? make("p", { class: "definition" }, one.definition) : null,
    make("details", {}, make("summary", { class: "hint" }, facts.filter(Boolean).join(" · ")), why(item, one)),
  );
}

function why(item, one) {
  const steps = item.proposal.steps || [];
  const scores = Object.entries(one.scores).map(([name, score]) => `${name} ${score.toFixed(4)}`);
  const lines = [...steps, `looked up as “${one.searched || item.mention}”`, `found by ${SIEVES[one.sieve] || one.sieve}, “${one.name}”`, ...against(one), scores.length ? `scores: ${scores.join(", ")}` : ""];
  return make("ul", {}, ...lines.filter(Boolean).map((line) => make("li", {}, line)));
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

function add(chosen, { id, label }) {
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
    make("summary", {}, `Decided with it: ${number(picked.size)} of ${number(alike.length)} with the same proposal`),
    make("button", { id: "all-alike", type: "button", title: "g", click: () => choose(new Set(all ? alike.map((one) => one.id) : [])) }, all ? `Take all ${number(alike.length)}` : "Take none"),
    make("ul", {}, ...boxes),
  );
  place.open = true;
  if (focused) document.getElementById(focused)?.focus();
}

// --- another concept -------------------------------------------------------------------------

function search(item, { chosen, redraw, terminology }) {
  const results = make("ul", { id: "found", role: "listbox", "aria-label": "Concepts found", hidden: true });
  const input = make("input", {
    id: "another", role: "combobox", autocomplete: "off", "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list",
    placeholder: "words of a name, or an id",
  });
  let found = [];
  let at = -1;
  let waiting = 0;

  function pick(one) {
    add(chosen, one);
    redraw();
    get("save").focus();
  }

  function draw() {
    results.replaceChildren(...found.map((one, n) => make(
      "li", { id: `found-${n}`, role: "option", "aria-selected": n === at ? "true" : "false", mousedown: (event) => { event.preventDefault(); pick(one); } },
      make("strong", {}, one.label), " ", make("code", {}, one.id), one.name === one.label ? "" : ` “${one.name}”`,
    )));
    results.hidden = !found.length;
    input.setAttribute("aria-expanded", String(Boolean(found.length)));
    if (at >= 0) input.setAttribute("aria-activedescendant", `found-${at}`);
    else input.removeAttribute("aria-activedescendant");
  }

  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => attempt(async () => {
      const prefix = input.value.trim();
      const query = new URLSearchParams({ prefix, terminology, anywhere: true });
      found = prefix ? (await ask(`/v1/search?${query}`)).concepts : [];
      at = -1;
      draw();
    }), 150);
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      event.preventDefault();
      at = (at + step + found.length) % found.length;
      draw();
    } else if (event.key === "Enter" && found.length) {
      event.preventDefault();
      pick(found[Math.max(at, 0)]);
    }
  });
  input.addEventListener("blur", () => { found = []; draw(); });
  return make("div", { class: "search" }, make("label", { for: "another" }, "Another concept"), input, results);
}

// What stands above and below a chosen concept, each to be chosen in its place.
function around(one, at, { chosen, redraw, terminology }) {
  const place = make("div", {});
  const draw = async () => {
    const query = new URLSearchParams({ terminology });
    const { parents, children, n_children } = await ask(`/v1/concepts/${encodeURIComponent(one.id)}?${query}`);
    const line = (text, concepts) => concepts.length ? make(
      "p", { class: "around" }, make("span", { class: "hint" }, text),
      ...concepts.map((other) => make("button", { type: "button", click: () => {
        if (chosen.some((already) => already.id === other.id)) return;
        chosen[at] = { id: other.id, label: other.label, relation: "equal", around: true };
        redraw();
      } }, `${other.label} `, make("code", {}, other.id))),
    ) : null;
    const more = n_children > children.length ? ` (the first ${number(children.length)} of ${number(n_children)})` : "";
    const lines = [line("Above", parents), line(`Below${more}`, children)].filter(Boolean);
    place.replaceChildren(...(lines.length ? lines : [make("p", { class: "hint" }, "Nothing is above or below it.")]));
  };
  if (one.around) attempt(draw);
  const details = make("details", { open: Boolean(one.around), toggle: () => {
    if (details.open && !one.around) attempt(draw);
    one.around = details.open;
  } }, make("summary", { class: "hint" }, "Above and below"), place);
  return details;
}

function basket(item, tools) {
  const { chosen, redraw, decide } = tools;
  if (!chosen.length) return null;
  const rows = chosen.map((one, at) => make(
    "li", {},
    make("span", {}, `${one.label} `, make("code", {}, one.id)),
    make("label", { for: `relation-${at}` }, "is"),
    make("select", { id: `relation-${at}`, change: (event) => { one.relation = event.target.value; } },
      ...Object.entries(RELATIONS).map(([value, text]) => make("option", { value, selected: value === one.relation }, text))),
    make("button", { type: "button", "aria-label": `Remove ${one.label}`, click: () => { chosen.splice(at, 1); redraw(); } }, "Remove"),
    around(one, at, tools),
  ));
  const save = () => decide("link", chosen.map(({ id, relation }) => ({ id, relation })));
  return make("div", { class: "basket" }, make("h3", {}, "Chosen"), make("ul", {}, ...rows), make("button", { id: "save", type: "button", class: "main", click: save }, chosen.length > 1 ? `Save these ${chosen.length}` : "Save this"));
}

function comment({ decide }) {
  return make(
    "div", { class: "comment" },
    make("label", { for: "comment" }, "Comment"),
    make("div", { class: "line" },
      make("textarea", { id: "comment", rows: 1, maxlength: 4000 }),
      make("button", { type: "button", click: () => decide("comment") }, "Only comment")),
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
