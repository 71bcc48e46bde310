// All commands, and the mentions of the list, by a few letters of their names.
import { get, make } from "./common.js";

export function openPalette({ commands, find, open }) {
  let lines = [];
  let at = 0;
  let asked = 0;

  function show() {
    if (get("palette").open) return;
    get("command").value = "";
    get("palette").showModal();
    look();
  }

  function run(line) {
    get("palette").close();
    line?.work();
  }

  function draw() {
    get("commands").replaceChildren(...lines.map((line, n) => make(
      "li", { id: `command-${n}`, role: "option", "aria-selected": n === at ? "true" : "false", click: () => run(line) },
      make("span", {}, line.text), line.key ? make("kbd", {}, line.key) : line.hint ? make("span", { class: "hint" }, line.hint) : "",
    )));
    if (!lines.length) get("commands").replaceChildren(make("li", { role: "option", "aria-disabled": "true", "aria-selected": "false", class: "hint" }, "No command and no mention is called like that."));
    get("command").setAttribute("aria-activedescendant", lines.length ? `command-${at}` : "");
    get(`command-${at}`)?.scrollIntoView({ block: "nearest" });
  }

  async function look() {
    const text = get("command").value.trim().toLowerCase();
    const words = text.split(/\s+/).filter(Boolean);
    const turn = ++asked;
    at = 0;
    lines = commands.filter(([name]) => words.every((word) => name.toLowerCase().includes(word))).map(([name, key, work]) => ({ text: name, key, work }));
    draw();
    if (!text) return;
    const items = await find(text).catch(() => []);
    if (turn !== asked) return; // more was typed meanwhile
    lines = [...lines, ...items.map((one) => ({ text: one.mention, hint: one.proposal.concepts?.[0]?.label ?? "", work: () => open(one) }))];
    draw();
  }

  get("command").addEventListener("input", look);
  get("command").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && lines.length) {
      event.preventDefault();
      at = (at + step + lines.length) % lines.length;
      draw();
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(lines[at]);
    }
  });
  return { show };
}
