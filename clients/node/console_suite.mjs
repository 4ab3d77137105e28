// The console of a development server: every page of its navigation on phone and desktop sizes, light and dark, with
// and without JavaScript; and what testers do there. LOCUM_SCREENSHOTS names a directory for screenshots.

import assert from "node:assert/strict";

import { inspectAtEachSize, isInert } from "./inspect.mjs";
import { ask } from "./sign.mjs";
import { people, world } from "./suite.mjs";

const here = world();

/** The scripts of live parts come from our own origin and are allowed in the console. */
async function isOurs(person) {
  const foreign = await person.page.evaluate(() =>
    [...document.querySelectorAll("script")].filter((one) => one.textContent.trim() || new URL(one.src).origin !== location.origin).length);
  assert.equal(foreign, 0, person.page.url());
}

/** Inspects the open page. */
async function look(person, name) {
  await isOurs(person);
  if ((await person.page.locator("script").count()) === 0) await isInert(person);
  assert.ok((await person.page.title()).endsWith(" · Locum"), name);
  await inspectAtEachSize(person, `console-${name}`);
}

/** Path and name of each page of the navigation. */
async function sections(person) {
  await person.open("/console");
  const links = person.page.getByRole("navigation", { name: "Console" }).getByRole("link");
  return links.evaluateAll((all) => all.map((one) => [new URL(one.href).pathname, one.textContent]));
}

const slug = (name) => name.toLowerCase().replaceAll(" ", "-");

people(here, "every page of the console looks right", async (person) => {
  const ada = await person();
  const all = await sections(ada);
  assert.ok(all.length >= 13, `${all}`);
  for (const [path, name] of all) {
    const answer = await ada.open(path);
    assert.equal(answer.status(), 200, path);
    const current = ada.page.getByRole("navigation", { name: "Console" }).locator("[aria-current=page]");
    assert.equal(await current.innerText(), name);
    await look(ada, slug(name));
  }
});

people(here, "every page of the console works without JavaScript", async (person) => {
  const ada = await person({ javaScriptEnabled: false });
  await ada.open("/console");
  const links = ada.page.getByRole("navigation", { name: "Console" }).getByRole("link");
  const paths = [];
  for (let at = 0; at < await links.count(); at++) paths.push(await links.nth(at).getAttribute("href"));
  for (const path of paths) {
    const answer = await ada.open(path);
    assert.equal(answer.status(), 200, path);
    assert.ok((await ada.page.locator("h1").innerText()).trim().length > 0, path);
    assert.ok((await ada.page.locator("main").innerText()).length > 80, path);
  }
});

people(here, "a tester signs in with one click, also for an app", async (person) => {
  const ada = await person();
  await ada.open("/login");
  await look(ada, "sign-in");
  await ada.press(/^Sign in as Ada/);
  assert.equal(ada.path(), "/home");
  await ada.page.getByRole("banner").getByRole("link", { name: "Console" }).click();
  await ada.page.waitForURL("**/console");
  const bob = await person();
  await bob.open("/console/people");
  await bob.press(/^Sign in as B/, bob.page.locator("li").filter({ hasText: "@bob" }).first());
  assert.match(await bob.page.locator("details.menu summary").innerText(), /@bob/);
  const app = here.server.app("Photo Booth", [here.callback]);
  const guest = await person();
  await guest.open(ask(app, here.callback).address);
  await guest.press(/^Sign in as Ada/);
  await guest.press("Authorize app");
  assert.ok(guest.isBack() && guest.told().code, guest.page.url());
});

people(here, "a tester creates a user, who posts and likes", async (person) => {
  const ada = await person();
  await ada.open("/console/people");
  await ada.fill({ Username: "not a name" });
  await ada.press("Create user");
  assert.ok(await ada.page.locator("[aria-invalid=true]").count());
  await ada.fill({ Username: "tidewatcher", Name: "Tide Watcher" });
  await ada.press("Create user");
  assert.equal(await ada.heading(), "Tide Watcher");
  await ada.fill({ Post: "The harbour is quiet this morning" });
  await ada.press("Post");
  assert.match(await ada.text(), /The post was published/);
  const id = await ada.page.locator("#posts ~ ul code, section[aria-labelledby=posts] li code").first().innerText();
  await ada.fill({ "User (username or ID)": "ada" });
  await ada.press("Follow");
  await ada.fill({ "Post (ID or link)": id });
  await ada.press("Like");
  assert.match(await ada.text(), /1 like,/);
  await ada.fill({ "Post (ID or link)": "nothing" });
  await ada.press("Repost");
  assert.match(await ada.text(), /neither the id of a post nor a link/);
  await look(ada, "person-refused");
  await ada.open("/console/people/ada");
  await ada.page.getByText("Edit profile").click();
  await look(ada, "person");
  await ada.press("OAuth 2.0 user token");
  assert.match(await ada.text(), /Shown only once/);
  await ada.open("/console/people?q=tidew");
  assert.match(await ada.text(), /Tide Watcher/);
});

people(here, "a tester tries an operation", async (person) => {
  const ada = await person();
  await ada.open("/console/explorer");
  await ada.fill({ Search: "users me" });
  await ada.press("Search");
  await look(ada, "explorer-found");
  await ada.page.getByRole("link", { name: "/2/users/me", exact: true }).first().click();
  await ada.page.getByRole("button", { name: "Try" }).waitFor();
  await look(ada, "operation");
  await ada.press("Try");
  assert.match(await ada.text(), /"username": "ada"/);
  assert.match(await ada.text(), /curl -i/);
  await look(ada, "operation-answered");
  await ada.page.getByLabel("Kind").selectOption("none");
  await ada.press("Try");
  assert.match(await ada.text(), /401/);
  await ada.open("/console/explorer/createPosts");
  await look(ada, "operation-post");
});

people(here, "a tester registers a webhook and sends an event again", async (person) => {
  const ada = await person();
  await ada.open("/console/webhooks");
  await ada.fill({ URL: "http://127.0.0.1:1/none" });
  await ada.press("Register webhook");
  assert.ok(await ada.page.locator("[aria-invalid=true]").count());
  await ada.fill({ URL: "" });
  await ada.press("Register webhook");
  assert.match(await ada.text(), /The webhook was registered/);
  const id = (await ada.page.locator("[id^=hook-]").first().getAttribute("id")).slice("hook-".length);
  here.server.cli("webhook", "send", id);
  for (let tries = 0; tries < 100; tries++) {
    await ada.open("/console/webhooks");
    if (/delivered/.test(await ada.text())) break;
  }
  for (const text of ["test_event", "Last challenge"]) await ada.page.locator("summary", { hasText: text }).first().click();
  await look(ada, "webhooks-delivered");
  await ada.press("Resend");
  assert.match(await ada.text(), /queued again/);
});

people(here, "a client is ticked when its first request arrives", async (person) => {
  const ada = await person();
  await ada.open("/console/clients");
  assert.doesNotMatch(await ada.text(), new RegExp(here.server.env.API_SECRET));
  await ada.page.getByText("Live:").waitFor();
  await fetch(`${here.server.url}/2/users/me`, { headers: { authorization: `Bearer ${here.server.env.USER_TOKEN}` } });
  await ada.page.locator("li", { hasText: "Node: fetch" }).getByText("Connected").waitFor();
  await ada.follow("Show secrets");
  assert.match(await ada.text(), new RegExp(here.server.env.API_SECRET));
  await look(ada, "connect-secrets");
});
