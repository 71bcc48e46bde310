import { ask, attempt, get } from "/review/common.js";

// A page that was asked for without a key comes without its concept; with the key it comes whole.
async function unlock() {
  if (get("concept").dataset.locked === "no" || !get("key").value.trim()) return;
  await attempt(async () => {
    const html = await ask(location.pathname, { html: true });
    const whole = new DOMParser().parseFromString(html, "text/html");
    document.title = whole.title;
    get("concept").replaceWith(document.adoptNode(whole.getElementById("concept")));
  });
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  unlock();
});
document.addEventListener("who", unlock);
unlock();
