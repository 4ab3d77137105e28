// Says how many new posts there are in the home timeline, with a link that loads them. Nothing on the page moves.
(() => {
  const place = document.getElementById("new-posts");
  if (!place || !window.EventSource) return;

  function show(event) {
    const count = event.data;
    if (!/^[0-9]+[+]?$/.test(count)) return;
    const text = count === "0" ? "" : `Show ${count} new ${count === "1" ? "post" : "posts"}`;
    if (place.textContent === text) return;
    const link = document.createElement("a");
    link.className = "button quiet";
    link.href = place.dataset.home;
    link.textContent = text;
    place.replaceChildren(...(text ? [link] : []));
  }

  listenWhileVisible(place.dataset.events, "posts", show);
})();
