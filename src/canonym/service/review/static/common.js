// What all pages share: requests, messages, elements. All text is set as text, never as HTML.
const who = document.querySelector("#who input");
const stored = document.querySelector("#who").dataset.keys === "yes" ? sessionStorage : localStorage;
who.value = stored.getItem(who.id) || "";
who.addEventListener("change", () => {
  stored.setItem(who.id, who.value.trim());
  document.dispatchEvent(new Event("who"));
});
document.querySelector("#who").addEventListener("submit", (event) => event.preventDefault());

export const get = (id) => document.getElementById(id);

export class Refused extends Error {
  constructor(status, body, wait = 0) {
    super(body.detail || `the service answered ${status}`);
    this.status = status;
    this.body = body;
    this.wait = wait; // seconds until it may be asked again
  }
}

// What takes longer than a moment is shown above the page, unless it is `quiet`.
const waits = new Set();
function sign(wait, on) {
  if (on) waits.add(wait);
  else waits.delete(wait);
  document.documentElement.classList.toggle("busy", waits.size > 0);
}

export async function ask(path, { quiet = false, ...options } = {}) {
  const wait = {};
  const waiting = setTimeout(() => sign(wait, !quiet), 150);
  try {
    return await fetched(path, options);
  } finally {
    clearTimeout(waiting);
    sign(wait, false);
  }
}

// JSON, fields of a form or a file go, and JSON, a page or a file come.
async function fetched(path, { method = "GET", json, form, body, raw = false, html = false, signal }) {
  const headers = {};
  if (who.id === "key") {
    if (who.value) headers["X-API-Key"] = who.value.trim();
  } else headers["X-Reviewer"] = encodeURIComponent(who.value.trim());
  if (json !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(json);
  } else if (form !== undefined) body = new URLSearchParams(form);
  else if (body !== undefined) headers["Content-Type"] = "application/octet-stream";
  let answer;
  try {
    answer = await fetch(path, { method, headers, body, signal });
  } catch {
    throw new Refused(0, { detail: "The service cannot be reached: nothing was saved." });
  }
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})), Number(answer.headers.get("Retry-After")));
  if (html) return answer.text();
  if (!raw) return answer.json();
  const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"));
  return { blob: await answer.blob(), name: name ? name[1] : "download" };
}

export const canWrite = () => {
  if (who.value.trim()) return true;
  get("who").hidden = false;
  complain(who.id === "key" ? "Give your key first." : "Give your name first: it stands beside what you decide.");
  who.focus();
  return false;
};

export function complain(text) {
  const place = get("problem");
  if (text) text = `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
  if (place.textContent !== text) place.textContent = text; // which is read out
  place.hidden = !text;
  if (text) place.scrollIntoView({ block: "nearest" });
}

// Say what was done, and offer to take it back; who reads it or goes to the button has time.
let telling = 0;
export function tell(text, undo) {
  clearTimeout(telling);
  const button = undo && make("button", { type: "button", click: () => { tell(""); undo.work(); } }, undo.label ?? "Undo");
  get("told").replaceChildren(...(text ? [make("span", {}, text)] : []), ...(button ? [button] : []));
  if (text) telling = setTimeout(hush, 9000);
}

const hush = () => (get("told").matches(":hover, :focus-within") ? (telling = setTimeout(hush, 2000)) : tell(""));

// Run something, and show what goes wrong.
export async function attempt(work) {
  try {
    complain("");
    return await work();
  } catch (error) {
    complain(error.message);
    return undefined;
  }
}

// Make an element: make("p", {class: "hint"}, "text", child, …); functions are listeners.
export function make(tag, attributes = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") found.addEventListener(name, value);
    else if (value === true) found.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) found.setAttribute(name, value);
  }
  found.append(...children.filter((one) => one !== null && one !== undefined && one !== ""));
  return found;
}

export const moment = (seconds) => new Date(seconds * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
export const number = (n) => n.toLocaleString("en");
// A probability in percent, which is never 0 or 100: nothing is certain.
export function percent(share) {
  const rounded = Math.round(100 * share);
  if (rounded > 99) return "over 99 %";
  return rounded < 1 ? "under 1 %" : `${rounded} %`;
}

// A code as people know it: I10 for ICD10CM:I10, but no bare number.
export const code = (id) => id.replace(/^[^:]+:(?=[A-Za-z])/, "");

export const counted = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
export const done = (review) => review.items.linked + review.items.accepted + review.items.nil;
