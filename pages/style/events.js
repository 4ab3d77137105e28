"use strict";
// Browsers allow few connections to a site, which hidden pages leave to others.
function listenWhileVisible(url, name, listener) {
  let source = null;

  function connect() {
    if (document.hidden) {
      if (source) source.close();
      source = null;
    } else if (!source) {
      source = new EventSource(url);
      source.addEventListener(name, listener);
    }
  }

  document.addEventListener("visibilitychange", connect);
  connect();
}
