// Shows what comes on an app's stream. Text only: nothing that comes is read as HTML.
"use strict";
(() => {
  const list = document.getElementById("posts");
  const state = document.getElementById("state");
  if (!list || !state) return;
  const MOST = 100;
  let beat = 0;
  let count = 0;

  const told = (text) => { if (state.textContent !== text) state.textContent = text; };

  function piece(parent, name, kind, text) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.textContent = text;
    parent.append(made);
    return made;
  }

  function show(message) {
    const post = message.data;
    if (!post) return told(`The stream says: ${(message.errors || [message])[0].detail || message.detail || "it ends"}`);
    const users = (message.includes && message.includes.users) || [];
    const author = users.find((user) => user.id === post.author_id);
    const line = document.createElement("li");
    const head = piece(line, "p", "small soft", "");
    if (author) piece(head, "bdi", "strong", `@${author.username}`);
    head.append(` · ${new Date().toLocaleTimeString()} · `);
    piece(head, "code", "", post.id);
    piece(line, "p", "said", post.text);
    const rules = (message.matching_rules || []).map((rule) => rule.tag || rule.id);
    piece(line, "p", "small soft", `Found by ${rules.join(", ")}`);
    list.prepend(line);
    while (list.children.length > MOST) list.lastChild.remove();
    count += 1;
  }

  async function listen() {
    told("Connecting…");
    const answer = await fetch(list.dataset.events, { headers: { accept: "application/json" } });
    if (!answer.ok) {
      const why = await answer.json().catch(() => ({}));
      told(why.detail || why.title || `The stream is not open (${answer.status}).`);
      return;
    }
    told("Connected. Waiting for posts…");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      beat = Date.now();
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.trim()) show(JSON.parse(line));
      told(count ? `Connected: ${count} post${count === 1 ? "" : "s"} so far.` : "Connected. Waiting for posts…");
    }
    if (count || beat) told("The connection ended. Reload the page to connect again.");
  }

  listen().catch(() => told("The connection broke. Reload the page to connect again."));
})();
