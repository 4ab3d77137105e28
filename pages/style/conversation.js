// Adds new messages to an open conversation. The form below them keeps its place and what is written in it.
(() => {
  const place = document.getElementById("messages");
  const form = document.getElementById("write");
  if (!place || !window.EventSource) return;
  let loading = false;
  let changed = false;

  function insert(fresh) {
    const top = form ? form.getBoundingClientRect().top : innerHeight;
    const [shown, loaded] = [place, fresh].map((part) => part.querySelector("ol.messages"));
    const last = shown && shown.lastElementChild;
    const known = last && loaded && fresh.querySelector(`#${last.id}`);
    if (known) {
      // What is before it and not shown is older.
      while (known.nextElementSibling) shown.append(known.nextElementSibling);
    } else {
      place.replaceChildren(...fresh.childNodes);
    }
    if (top < innerHeight) scrollBy({ top: form.getBoundingClientRect().top - top, behavior: "instant" });
  }

  async function load() {
    if (loading) { changed = true; return; }
    loading = true;
    changed = false;
    try {
      const answer = await fetch(place.dataset.page, { headers: { accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("messages");
      if (answer.ok && fresh) insert(fresh);
    } finally {
      loading = false;
      if (changed) load();
    }
  }

  listenWhileVisible(place.dataset.events, "messages", (event) => {
    if (!document.getElementById(`m${event.data}`)) load();
  });
})();
