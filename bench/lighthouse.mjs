#!/usr/bin/env node
// Audits pages of a new development server with Lighthouse, on a phone as it simulates one:
//
//   npm install --prefix FOLDER lighthouse
//   LOCUM_BINARY=target/release/locum bench/lighthouse.mjs FOLDER

import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { Server } from "../clients/node/server.mjs";

if (!process.argv[2]) throw new Error("usage: lighthouse.mjs FOLDER");
const need = createRequire(resolve(process.argv[2], "package.json"));
const load = async (name) => (await import(pathToFileURL(need.resolve(name)))).default;
const [lighthouse, puppeteer] = [await load("lighthouse"), await load("puppeteer-core")];

const server = await Server.start();
server.cli("site", "set", "indexing", "allowed");
const profile = `/${server.env.USERNAME}`;
const [thread] = (await (await fetch(server.url + profile)).text()).match(/\/\w+\/status\/\d+/);
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage();

async function audit(path) {
  // Signing in lasts.
  const flags = { logLevel: "error", disableStorageReset: true };
  const { lhr } = await lighthouse(server.url + path, flags, undefined, page);
  if (!lhr.finalDisplayedUrl.endsWith(path)) throw new Error(`${path} led to ${lhr.finalDisplayedUrl}`);
  const weighed = Object.values(lhr.categories).flatMap((category) => category.auditRefs.filter((audit) => audit.weight));
  const failed = new Set(weighed.map((audit) => audit.id).filter((id) => (lhr.audits[id].score ?? 1) < 0.9));
  const scores = Object.values(lhr.categories).map((category) => `${category.id} ${Math.round(category.score * 100)}`);
  console.log(`  ${path}: ${scores.join(", ")}; failed: ${[...failed].join(", ") || "nothing"}`);
}

console.log("signed out");
for (const path of ["/login", profile, thread]) await audit(path);
await page.goto(`${server.url}/login`);
await page.type("input[name=login]", server.env.USERNAME);
await page.type("input[name=password]", server.env.PASSWORD);
await Promise.all([page.waitForNavigation(), page.click("main button")]);
console.log("signed in");
for (const path of ["/home", profile, thread]) await audit(path);
await browser.close();
await server.close();
process.exit();
