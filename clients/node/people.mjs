#!/usr/bin/env node
// A browser for suites in other languages: one JSON object per line in, one out for each.
//
//   {"do": "start", "url": "http://127.0.0.1:8080", "username": "ada", "password": "dev"}
//   {"do": "open", "person": 1, "url": "https://api.x.com/oauth/authorize?…"}
//   {"do": "authorize", "person": 1, "url": "…", "button": "Cancel"}
//   {"do": "pin", "person": 1}
//
// The first line out contains the redirect URI for apps.

import { createInterface } from "node:readline";

import { Browser } from "./browser.mjs";

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));
const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
const browser = await Browser.start();
const people = [];
say({ callback: browser.site.callback });

const ACTS = {
  async start({ url, username, password }) {
    const env = { USERNAME: username, PASSWORD: password };
    people.push(await browser.person({ url, env }));
    return { person: people.length - 1 };
  },
  async open({ url }, person) {
    await person.open(url);
  },
  async authorize({ url, button }, person) {
    await person.authorize(url, button);
  },
  async pin(_, person) {
    return { pin: await person.pin() };
  },
  async leave(_, person) {
    await person.leave();
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  try {
    const person = people[asked.person];
    const answer = await ACTS[asked.do](asked, person);
    // Forbidden behaviour is reported once.
    const trouble = person?.trouble.splice(0) ?? [];
    if (trouble.length > 0) throw new Error(trouble.join("; "));
    const url = person && asked.do !== "leave" ? person.page.url() : undefined;
    say({ url: person?.isBack() ? url : null, ...answer });
  } catch (error) {
    say({ error: error.stack });
  }
}
await browser.close();
