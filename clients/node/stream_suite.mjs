// Streams with Node's client libraries, unmodified except for the base URL.

import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { need } from "./packages.mjs";
import { Server } from "./server.mjs";

const { TwitterApi, ETwitterStreamEvent } = need("twitter-api-v2");
const { Client } = need("@xdevplatform/xdk");

const PUBLIC = ["api.x.com", "api.twitter.com"];
const LONGEST = 60_000;
const here = {};

/** Redirects requests for the public service to the server. */
const { request } = https;
https.request = (options, ...more) => {
  assert.ok(PUBLIC.includes(options.host), options.host);
  const { protocol, hostname: host, port } = new URL(here.server.url);
  return http.request({ ...options, protocol, host, port, agent: undefined }, ...more);
};

before(async () => {
  here.server = await Server.start();
  const { env } = here.server;
  here.app = new TwitterApi(env.BEARER_TOKEN);
  const { API_KEY: appKey, API_SECRET: appSecret, ACCESS_TOKEN: accessToken, ACCESS_TOKEN_SECRET: accessSecret } = env;
  here.ada = new TwitterApi({ appKey, appSecret, accessToken, accessSecret });
}, { timeout: LONGEST });
after(async () => {
  await here.server?.close();
  setTimeout(() => process.exit(), 2_000).unref();
}, { timeout: LONGEST });

async function until(what, holds) {
  for (const end = Date.now() + 20_000; !holds(); await sleep(20)) assert.ok(Date.now() < end, what);
}

test("twitter-api-v2: rules, and posts as they come", { timeout: LONGEST }, async () => {
  const { v2 } = here.app;
  const added = await v2.updateStreamRules({ add: [{ value: "nodeword", tag: "from node" }] });
  assert.equal(added.meta.summary.created, 1);
  const rules = await v2.streamRules();
  assert.equal(rules.data[0].tag, "from node");
  const stream = await v2.searchStream({ "tweet.fields": ["created_at"], expansions: ["author_id"], autoConnect: true });
  const came = [];
  stream.on(ETwitterStreamEvent.Data, (message) => came.push(message));
  await here.ada.v2.tweet("nothing for you");
  const made = await here.ada.v2.tweet("a nodeword, été ☃");
  await until("a post comes", () => came.length > 0);
  assert.equal(came[0].data.id, made.data.id);
  assert.ok(came[0].data.created_at);
  assert.deepEqual(came[0].matching_rules.map((rule) => rule.tag), ["from node"]);
  assert.equal(came[0].includes.users[0].username, "ada");
  stream.close();
  const gone = await v2.updateStreamRules({ delete: { ids: rules.data.map((rule) => rule.id) } });
  assert.equal(gone.meta.summary.deleted, 1);
  assert.equal(came.length, 1);
  await assert.rejects(v2.searchStream({ autoConnect: true, autoReconnectRetries: 0 }), "without rules");
});

test("the official library: rules, and posts as they come", { timeout: LONGEST }, async () => {
  const client = new Client({ baseUrl: here.server.url, bearerToken: here.server.env.BEARER_TOKEN });
  const added = await client.stream.updateRules({ add: [{ value: "officialnode", tag: "official" }] });
  assert.equal(added.data[0].value, "officialnode");
  const stream = await client.stream.posts({ expansions: ["author_id"] });
  const came = [];
  stream.on("data", (message) => came.push(message));
  await sleep(200);
  const made = await here.ada.v2.tweet("an officialnode post");
  await until("a post comes", () => came.length > 0);
  assert.equal(came[0].data.id, made.data.id);
  const rules = came[0].matching_rules ?? came[0].matchingRules;
  assert.equal(rules[0].tag, "official");
  stream.close();
});
