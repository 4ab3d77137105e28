// Reports events of an advertiser's site. Pages load it with the event to report at once, and may report others:
// twq("event", "tw-o3bk1-o3bk2", { value: "19.99", currency: "EUR", conversion_id: "order-7" })
(() => {
  const script = document.currentScript;
  const image = new URL("tag.gif", script.src);
  const cookie = /(?:^|; )_twclid=([^;]*)/;
  const landed = new URLSearchParams(location.search).get("twclid");
  if (landed) {
    document.cookie = `_twclid=${encodeURIComponent(landed)}; path=/; max-age=2592000; samesite=lax`;
  }
  const report = (event, details) => {
    const click = landed || decodeURIComponent((document.cookie.match(cookie) || ["", ""])[1]);
    const query = new URLSearchParams({ ...details, event_id: event });
    if (click) {
      query.set("twclid", click);
    }
    const url = new URL(image);
    url.search = query;
    new Image().src = url;
  };
  window.twq = (command, event, details) => {
    if (command === "event") {
      report(event, details || {});
    }
  };
  if (script.dataset.event) {
    report(script.dataset.event, {});
  }
})();
