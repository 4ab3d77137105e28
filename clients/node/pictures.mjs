#!/usr/bin/env node
// Takes the pictures of README: the console, a home timeline and the Ads Manager of a new development server.
//
//   LOCUM_BINARY=target/release/locum clients/node/pictures.mjs docs/pictures

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { Browser } from "./browser.mjs";
import { Server } from "./server.mjs";

const folder = process.argv[2];
if (!folder) throw new Error("usage: pictures.mjs FOLDER");
mkdirSync(folder, { recursive: true });

/** Calls that an integration might make, so that the console has something to show. */
async function send(server) {
  const headers = { authorization: `Bearer ${server.env.USER_TOKEN}`, "user-agent": "tweepy/4.14.0" };
  const ask = (method, path, body) => {
    const sent = body && { body: JSON.stringify(body), headers: { ...headers, "content-type": "application/json" } };
    return fetch(server.url + path, { method, headers, ...sent });
  };
  const me = await (await ask("GET", "/2/users/me")).json();
  await ask("POST", "/2/tweets", { text: "The 7:40 ferry is back on its usual pier." });
  await ask("GET", `/2/users/${me.data.id}/mentions?max_results=10`);
  await ask("GET", "/2/tweets/search/recent?query=harbour&max_results=500");
  await ask("GET", "/2/tweets/search/recent?query=harbour");
  await ask("GET", "/2/tweets/12?expansions=author_id");
}

const browser = await Browser.start();

/** Takes one picture, of a member who is signed in. */
async function take(name, options, open) {
  const server = await Server.start(...options);
  const settings = { viewport: { width: 1200, height: 800 }, reducedMotion: "reduce", deviceScaleFactor: 1 };
  try {
    const person = await browser.person(server, settings);
    await person.open("/login?next=/home");
    await person.signIn();
    await open(person, server);
    await person.page.screenshot({ path: join(folder, `${name}.png`) });
    await person.leave();
  } finally {
    await server.close();
  }
}

await take("console", [], async (person, server) => {
  await send(server);
  await person.open("/console/requests");
});
await take("home", [], (person) => person.open("/home"));
await take("ads-manager", ["--world", "ads"], async (person, server) => {
  await person.open(`/ads/${server.env.ADS_ACCOUNT_ID}`);
});
await browser.close();
process.exit();
