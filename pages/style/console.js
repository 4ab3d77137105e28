// Loads a console page anew when something of it has changed, and replaces its parts: elements with an id and
// `data-live`, which names topics.
"use strict";
(() => {
  const parts = () => [...document.querySelectorAll("[data-live][id]")];
  const state = document.getElementById("live-state");
  if (!parts().length || !window.EventSource) return;
  let loading = false;
  let changed = false;

  const setState = (text) => { if (state && state.textContent !== text) state.textContent = text; };

  async function reload() {
    if (loading || document.hidden) { changed = true; return; }
    loading = true;
    changed = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const part of parts()) {
          const fresh = page.getElementById(part.id);
          const isUsed = part.contains(document.activeElement);
          if (fresh && !isUsed && fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.childNodes);
        }
      }
    } finally {
      loading = false;
      if (changed) setTimeout(reload, 500);
    }
  }

  const source = new EventSource("/console/live");
  source.onopen = () => setState("Live: the page follows what happens.");
  source.onerror = () => setState("The connection was lost; trying again.");
  source.addEventListener("change", (event) => {
    const topics = event.data.split(" ");
    if (parts().some((part) => part.dataset.live.split(" ").some((topic) => topics.includes(topic)))) reload();
  });
  document.addEventListener("visibilitychange", () => { if (changed) reload(); });
})();
