#!/usr/bin/env node
// Random requests signed by twitter-api-v2, one JSON object per line, in the format of
// scripts/oauth1-vectors.
//
//   (cd clients/node && npm ci --ignore-scripts)
//   node scripts/oauth1-vectors.mjs 10000 [seed] > vectors.jsonl
//   LOCUM_OAUTH1_VECTORS=$PWD/vectors.jsonl cargo test -p base signers

import { need } from "../clients/node/packages.mjs";

const { TwitterApi } = need("twitter-api-v2");
const { OAuth1Helper } = need("twitter-api-v2/dist/cjs/client-mixins/oauth1.helper.js");

const FORM = "application/x-www-form-urlencoded";
const PIECES = [
  ..."aAzZ09-._~ +&=%/?:;,!*'()#@$[]\"<>|\\^`{}\t\n",
  "é", "ß", "日本", "☃", "👩‍🚀", "e\u0301", "%20", "%2B", "oauth", "\u00a0",
];
const SEGMENTS = ["2", "tweets", "1.1", "update.json", "a%20b", "%E6%97%A5", "x~y", "a%2Fb", "A%2fb", "-", "a+b", "a:b@c", "é", ""];
const HOSTS = ["api.x.com", "API.X.com", "api.twitter.com", "localhost", "127.0.0.1", "[::1]"];
const PORTS = ["", "", "", ":443", ":80", ":8443"];

/** Seeded random numbers below `most` (mulberry32). */
function dice(seed) {
  let state = seed >>> 0;
  return (most) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
}

const [count = "10000", seed = "1"] = process.argv.slice(2);
const roll = dice(Number(seed));
const choose = (all) => all[roll(all.length)];
const chance = (percent) => roll(100) < percent;
const text = (most = 12) => Array.from({ length: roll(most) }, () => choose(PIECES)).join("");

/** Parameters with distinct names: the library signs only one of a name used in query and form. */
function pairs(mark) {
  const names = ["status", "include_entities", "a", "B", "a1", "a-1", "tweet.fields", `${mark}${text()}`];
  const made = Array.from({ length: roll(6) }, () => [`${mark}${choose(names)}`, text()]);
  return Object.fromEntries(made);
}

/** A request as sent by the library, from query and body parameters. */
function whole(client) {
  const url = `${choose(["http", "https"])}://${choose(HOSTS)}${choose(PORTS)}`;
  const path = Array.from({ length: roll(5) }, () => choose(SEGMENTS)).join("/");
  const method = choose(["GET", "POST", "PUT", "DELETE", "PATCH", "post"]);
  const mode = choose([undefined, "url", "json"]);
  const body = { ...pairs("f"), ...(chance(10) && { oauth_callback: choose(["oob", "http://localhost/in?x=1&y=ü"]) }) };
  const query = { ...pairs("q"), ...(chance(10) && { oauth_verifier: "1234567" }) };
  const made = client.getHttpRequestArgs({ url: `${url}/${path}`, method, query, body, forceBodyMode: mode });
  const isForm = made.headers["content-type"]?.startsWith(FORM) ?? false;
  return { url: made.url, method: made.method, authorization: made.headers.Authorization, form: isForm ? made.body : null };
}

/** A request signed by the library's signer for a given URL, in which names may repeat. */
function bare(keys, token) {
  const method = choose(["GET", "POST", "DELETE"]);
  const names = ["a", "b", "a", "id", "tweet.fields"];
  const query = Array.from({ length: roll(6) }, () => `${choose(names)}=${encodeURIComponent(`v${text()}`)}`).join("&");
  const address = `https://api.x.com/2/${choose(["tweets", "users/me", "posts"])}${query && `?${query}`}`;
  const helper = new OAuth1Helper({ consumerKeys: keys });
  const signed = helper.authorize({ url: address, method, data: {} }, token);
  return { url: new URL(address), sent: query, method, authorization: helper.toHeader(signed).Authorization, form: null };
}

function vector() {
  const [appKey, appSecret] = [text() || "key", text(40) || "secret"];
  const token = chance(80) ? { accessToken: text() || "token", accessSecret: text(40) || "secret" } : {};
  const client = new TwitterApi({ appKey, appSecret, ...token });
  const own = { key: token.accessToken, secret: token.accessSecret };
  const made = chance(70) ? whole(client._requestMaker) : bare({ key: appKey, secret: appSecret }, own);
  return {
    origin: made.url.origin,
    method: made.method,
    path: made.url.pathname,
    query: made.sent ?? made.url.search.slice(1),
    authorization: made.authorization,
    form: made.form,
    consumer_key: appKey,
    consumer_secret: appSecret,
    token: token.accessToken ?? null,
    token_secret: token.accessSecret ?? null,
  };
}

process.stdout.write(Array.from({ length: Number(count) }, () => `${JSON.stringify(vector())}\n`).join(""));
