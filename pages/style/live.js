// Shows the posts of an app's stream, as text only: nothing received is parsed as HTML.
"use strict";
(() => {
  const list = document.getElementById("posts");
  const state = document.getElementById("state");
  if (!list || !state) return;
  const MAX_POSTS = 100;
  let beat = 0;
  let count = 0;

  const setState = (text) => { if (state.textContent !== text) state.textContent = text; };

  function addElement(parent, name, kind, text) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    made.textContent = text;
    parent.append(made);
    return made;
  }

  function show(message) {
    const post = message.data;
    if (!post) return setState(`The stream ended: ${(message.errors || [message])[0].detail || message.detail || "no reason given"}`);
    const users = (message.includes && message.includes.users) || [];
    const author = users.find((user) => user.id === post.author_id);
    const line = document.createElement("li");
    const head = addElement(line, "p", "small soft", "");
    if (author) addElement(head, "bdi", "strong", `@${author.username}`);
    head.append(` · ${new Date().toLocaleTimeString()} · `);
    addElement(head, "code", "", post.id);
    addElement(line, "p", "said", post.text);
    const rules = (message.matching_rules || []).map((rule) => rule.tag || rule.id);
    addElement(line, "p", "small soft", `Matched ${rules.length === 1 ? "rule" : "rules"}: ${rules.join(", ")}`);
    list.prepend(line);
    while (list.children.length > MAX_POSTS) list.lastChild.remove();
    count += 1;
  }

  async function listen() {
    setState("Connecting…");
    const answer = await fetch(list.dataset.events, { headers: { accept: "application/json" } });
    if (!answer.ok) {
      const why = await answer.json().catch(() => ({}));
      setState(why.detail || why.title || `The stream could not be opened (${answer.status}).`);
      return;
    }
    setState("Connected. Waiting for posts…");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      beat = Date.now();
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.trim()) show(JSON.parse(line));
      setState(count ? `Connected: ${count} post${count === 1 ? "" : "s"} so far.` : "Connected. Waiting for posts…");
    }
    if (count || beat) setState("The connection was closed. Reload the page to connect again.");
  }

  listen().catch(() => setState("The connection was lost. Reload the page to connect again."));
})();
