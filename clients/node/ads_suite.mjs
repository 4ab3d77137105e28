// The Ads API with Node's client libraries, unmodified except for the base URL.

import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import { after, before, test } from "node:test";

import { need } from "./packages.mjs";
import { Server } from "./server.mjs";

const { TwitterApi, ApiResponseError } = need("twitter-api-v2");
const TwitterAds = need("twitter-ads");

const PUBLIC = /^(api|ads-api|ads-api-sandbox)\.(x|twitter)\.com$/;
const LONGEST = 60_000;
const here = {};

/** Redirects requests for the public service to the server, with the original Host header. */
const { request } = https;
https.request = (options, ...more) => {
  const meant = options.hostname ?? options.host;
  assert.match(meant, PUBLIC);
  const { hostname: host, port } = new URL(here.server.url);
  const headers = { ...options.headers, host: meant, "x-forwarded-proto": "https" };
  const plain = { ...options, protocol: "http:", host, hostname: host, port, headers, agent: undefined };
  return http.request(plain, ...more);
};

before(async () => {
  here.server = await Server.start();
  const { API_KEY, API_SECRET, ACCESS_TOKEN, ACCESS_TOKEN_SECRET } = here.server.env;
  here.api = new TwitterApi({
    appKey: API_KEY, appSecret: API_SECRET, accessToken: ACCESS_TOKEN, accessSecret: ACCESS_TOKEN_SECRET,
  });
  const small = (sandbox) => {
    const library = new TwitterAds({
      consumer_key: API_KEY, consumer_secret: API_SECRET, access_token: ACCESS_TOKEN,
      access_token_secret: ACCESS_TOKEN_SECRET, api_version: "12", sandbox,
    });
    const ask = (method) => (path, params = {}) => new Promise((done, failed) => {
      library[method](path, params, (error, answer, body) => error ? failed(error) : done(body));
    });
    return { get: ask("get"), post: ask("post"), put: ask("put"), delete: ask("delete") };
  };
  here.small = small(false);
  here.tried = small(true);
  here.account = (await here.api.ads.get("accounts")).data[0].id;
  const instruments = await here.api.ads.get(`accounts/${here.account}/funding_instruments`);
  here.pays = instruments.data[0].id;
}, { timeout: LONGEST });
after(async () => {
  await here.server?.close();
  setTimeout(() => process.exit(), 2_000).unref();
}, { timeout: LONGEST });

const code = (wanted) => (error) => {
  const told = error.allErrors ?? error.errors;
  assert.equal(told[0].code, wanted, error.message);
  return true;
};

test("twitter-api-v2: a campaign tree is built, changed, listed by cursors and taken down", { timeout: LONGEST }, async () => {
  const { ads } = here.api;
  const at = `accounts/${here.account}`;
  const made = await ads.post(`${at}/campaigns`, {
    funding_instrument_id: here.pays, name: "Été ☃ 50% & more", daily_budget_amount_local_micro: 1_000_000,
    entity_status: "PAUSED",
  });
  const campaign = made.data.id;
  assert.equal(made.data.name, "Été ☃ 50% & more");
  const item = await ads.post(`${at}/line_items`, {
    campaign_id: campaign, name: "Riders", product_type: "PROMOTED_TWEETS", placements: "ALL_ON_TWITTER",
    objective: "ENGAGEMENTS", bid_amount_local_micro: 10_000, entity_status: "PAUSED",
  });
  for (const word of ["bike", "road", "hill"]) {
    await ads.post(`${at}/targeting_criteria`, {
      line_item_id: item.data.id, targeting_type: "BROAD_KEYWORD", targeting_value: word,
    });
  }
  const found = [];
  let cursor;
  do {
    const params = { line_item_ids: item.data.id, count: 2, ...(cursor && { cursor }) };
    const page = await ads.get(`${at}/targeting_criteria`, params);
    found.push(...page.data.map((one) => one.targeting_value));
    cursor = page.next_cursor;
  } while (cursor);
  assert.deepEqual(found.sort(), ["bike", "hill", "road"]);
  const post = await here.api.v2.tweet("Look at this");
  const promoted = await ads.post(`${at}/promoted_tweets`, { line_item_id: item.data.id, tweet_ids: post.data.id });
  assert.equal(promoted.data[0].tweet_id, post.data.id);
  const changed = await ads.put(`${at}/campaigns/${campaign}`, { name: "Summer" });
  assert.equal(changed.data.name, "Summer");
  assert.equal((await ads.get(`${at}/campaigns/${campaign}`)).data.name, "Summer");
  assert.equal((await ads.delete(`${at}/campaigns/${campaign}`)).data.deleted, true);
  await assert.rejects(ads.get(`${at}/campaigns/${campaign}`), (error) => {
    assert.ok(error instanceof ApiResponseError);
    assert.equal(error.code, 404);
    return code("CAMPAIGN_NOT_FOUND")(error);
  });
});

test("twitter-api-v2: bodies of JSON, batches and estimates", { timeout: LONGEST }, async () => {
  const { ads } = here.api;
  const batch = ["one", "two"].map((name) => ({
    operation_type: "Create",
    params: { funding_instrument_id: here.pays, name, daily_budget_amount_local_micro: 1_000_000, entity_status: "PAUSED" },
  }));
  const json = { forceBodyMode: "json" };
  const made = await ads.post(`batch/accounts/${here.account}/campaigns`, batch, json);
  assert.deepEqual(made.data.map((one) => one.name), ["one", "two"]);
  const asked = { targeting_criteria: [{ targeting_type: "BROAD_KEYWORD", targeting_value: "bike" }] };
  const estimate = await ads.post(`accounts/${here.account}/audience_estimate`, asked, json);
  assert.ok(estimate.data.audience_size.min <= estimate.data.audience_size.max);
  const wrong = [{ ...batch[0], params: { ...batch[0].params, daily_budget_amount_local_micro: 1 } }];
  await assert.rejects(ads.post(`batch/accounts/${here.account}/campaigns`, wrong, json));
});

test("twitter-api-v2: the sandbox is another world", { timeout: LONGEST }, async () => {
  const { sandbox } = here.api.ads;
  const made = await sandbox.post("accounts");
  const ids = (page) => page.data.map((one) => one.id);
  assert.ok(ids(await sandbox.get("accounts")).includes(made.data[0].id));
  assert.ok(!ids(await here.api.ads.get("accounts")).includes(made.data[0].id));
  await assert.rejects(here.api.ads.post("accounts"), code("METHOD_NOT_ALLOWED"));
});

test("twitter-ads: accounts, campaigns, and what is refused", { timeout: LONGEST }, async () => {
  const { small, account: account_id } = here;
  const mine = await small.get("accounts/:account_id", { account_id });
  assert.equal(mine.data.id, account_id);
  assert.equal(mine.request.params.account_id, account_id);
  const made = await small.post("accounts/:account_id/campaigns", {
    account_id, funding_instrument_id: here.pays, name: "It's (a) test!*", entity_status: "PAUSED",
    daily_budget_amount_local_micro: 2_000_000,
  });
  assert.equal(made.data.name, "It's (a) test!*");
  const campaign_id = made.data.id;
  const path = "accounts/:account_id/campaigns/:campaign_id";
  const changed = await small.put(path, { account_id, campaign_id, name: "Another" });
  assert.equal(changed.data.name, "Another");
  // Lists are separated by commas.
  const listed = await small.get("accounts/:account_id/campaigns", { account_id, campaign_ids: [campaign_id, "zzz"] });
  assert.deepEqual(listed.data.map((one) => one.name), ["Another"]);
  assert.equal((await small.delete(path, { account_id, campaign_id })).data.deleted, true);
  await assert.rejects(small.get(path, { account_id, campaign_id }), code("CAMPAIGN_NOT_FOUND"));
  await assert.rejects(small.get("accounts/:account_id", { account_id: "zzz" }), code("ACCOUNT_NOT_FOUND"));
});

test("twitter-ads: figures, options, and the sandbox that it asks unless told otherwise", { timeout: LONGEST }, async () => {
  const { small, tried, account: account_id } = here;
  const hour = (shift) => new Date(Math.floor(Date.now() / 3.6e6 + shift) * 3.6e6).toISOString();
  const figures = await small.get("stats/accounts/:account_id", {
    account_id, entity: "ACCOUNT", entity_ids: [account_id], granularity: "HOUR", placement: "ALL_ON_TWITTER",
    metric_groups: ["ENGAGEMENT", "BILLING"], start_time: hour(-5), end_time: hour(1),
  });
  assert.equal(figures.time_series_length, 6);
  const options = await small.get("targeting_criteria/locations", { q: "port", location_type: "COUNTRIES" });
  assert.deepEqual(options.data.map((one) => one.name), ["Portugal"]);
  const made = await tried.post("accounts");
  assert.ok((await tried.get("accounts")).data.some((one) => one.id === made.data[0].id));
});
