// Node's client libraries, unmodified except for the base URL; users respond in Chromium.

import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";

import { need } from "./packages.mjs";
import { people, world } from "./suite.mjs";

const { TwitterApi } = need("twitter-api-v2");
const { Client, OAuth1, OAuth2, generateCodeChallenge, generateCodeVerifier } = need("@xdevplatform/xdk");

const here = world();
const PUBLIC = ["api.x.com", "x.com", "api.twitter.com", "twitter.com"];
const SCOPES = ["tweet.read", "tweet.write", "users.read", "offline.access"];

/** Redirects requests for the public service to the server, whichever way a client sends them. */
const [request, fetched] = [https.request, globalThis.fetch];
https.request = (options, ...more) => {
  assert.ok(PUBLIC.includes(options.host), options.host);
  const { protocol, hostname: host, port } = new URL(here.server.url);
  return http.request({ ...options, protocol, host, port, agent: undefined }, ...more);
};
globalThis.fetch = (address, options) => {
  const url = new URL(address);
  if (!PUBLIC.includes(url.hostname)) return fetched(address, options);
  return fetched(new URL(url.pathname + url.search, here.server.url), options);
};
process.on("exit", () => Object.assign(https, { request }));

const web = () => (web.app ??= here.server.app("Made with Node", [here.callback]));
const native = () => (native.app ??= here.server.app("Made for phones", [here.callback], "--kind", "native"));

people(here, "twitter-api-v2: OAuth 1.0a with a callback", async (person) => {
  const { api_key: appKey, api_secret: appSecret } = web();
  const ada = await person();
  const link = await new TwitterApi({ appKey, appSecret }).generateAuthLink(here.callback, { linkMode: "authorize" });
  await ada.authorize(link.url);
  const { oauth_token: accessToken, oauth_verifier: verifier } = ada.told();
  assert.equal(accessToken, link.oauth_token);
  const login = new TwitterApi({ appKey, appSecret, accessToken, accessSecret: link.oauth_token_secret });
  const { client, screenName, userId } = await login.login(verifier);
  assert.equal(screenName, "ada");
  assert.equal((await client.v2.me()).data.id, userId);
  const made = await client.v2.tweet("Written by twitter-api-v2, (été)! *☃* 'q' ~");
  const read = await client.v2.singleTweet(made.data.id, { "tweet.fields": ["author_id", "created_at"] });
  assert.equal(read.data.author_id, userId);
  await assert.rejects(login.login(verifier), "a verifier works once");
});

people(here, "twitter-api-v2: OAuth 1.0a with a PIN, and no", async (person) => {
  const { api_key: appKey, api_secret: appSecret } = web();
  const ada = await person();
  const link = await new TwitterApi({ appKey, appSecret }).generateAuthLink("oob", { linkMode: "authenticate", forceLogin: true, screenName: "ada" });
  await ada.open(link.url);
  assert.equal(await ada.page.getByLabel("Username or email").inputValue(), "ada");
  await ada.authorize();
  const keys = { appKey, appSecret, accessToken: link.oauth_token, accessSecret: link.oauth_token_secret };
  const { client } = await new TwitterApi(keys).login(await ada.pin());
  assert.equal((await client.v2.me()).data.username, "ada");
  const other = await new TwitterApi({ appKey, appSecret }).generateAuthLink(here.callback);
  await ada.open(other.url);
  if (!ada.isBack()) await ada.press("Cancel");
  const forbidden = new TwitterApi({ appKey, appSecret }).generateAuthLink("https://elsewhere.example/");
  await assert.rejects(forbidden, (error) => error.errors?.[0]?.code === 415);
});

for (const [kind, app] of [["confidential", web], ["public", native]]) {
  people(here, `twitter-api-v2: OAuth 2.0 of a ${kind} client, and refreshing`, async (person) => {
    const ada = await person();
    const { client_id: clientId, client_secret: clientSecret } = app();
    const own = new TwitterApi(clientSecret ? { clientId, clientSecret } : { clientId });
    const link = own.generateOAuth2AuthLink(here.callback, { scope: SCOPES });
    await ada.authorize(link.url);
    assert.equal(ada.told().state, link.state);
    const { code } = ada.told();
    const given = await own.loginWithOAuth2({ code, codeVerifier: link.codeVerifier, redirectUri: here.callback });
    assert.deepEqual(given.scope.sort(), [...SCOPES].sort());
    assert.equal((await given.client.v2.me()).data.username, "ada");
    const refreshed = await own.refreshOAuth2Token(given.refreshToken);
    assert.notEqual(refreshed.accessToken, given.accessToken);
    assert.equal((await refreshed.client.v2.me()).data.username, "ada");
    await own.revokeOAuth2Token(refreshed.accessToken, "access_token");
    await assert.rejects(refreshed.client.v2.me(), (error) => error.code === 401);
    const again = own.generateOAuth2AuthLink(here.callback, { scope: SCOPES });
    await ada.authorize(again.url, "Cancel");
    assert.equal(ada.told().error, "access_denied");
  });
}

people(here, "twitter-api-v2: the app alone", async () => {
  const { api_key: appKey, api_secret: appSecret } = web();
  const app = await new TwitterApi({ appKey, appSecret }).appLogin();
  assert.equal((await app.v2.userByUsername("ada")).data.id, here.server.env.USER_ID);
  await assert.rejects(app.v2.me(), (error) => error.code === 403);
});

for (const [kind, app] of [["confidential", web], ["public", native]]) {
  people(here, `the official library: OAuth 2.0 of a ${kind} client`, async (person) => {
    const ada = await person();
    const { client_id: clientId, client_secret: clientSecret } = app();
    const own = new OAuth2({ clientId, clientSecret, redirectUri: here.callback, scope: SCOPES });
    // Its default of 128 bytes makes a verifier of 171 characters, but RFC 7636 allows 128.
    const verifier = generateCodeVerifier(96);
    await own.setPkceParameters(verifier, await generateCodeChallenge(verifier));
    await ada.authorize(await own.getAuthorizationUrl("a state"));
    assert.equal(ada.told().state, "a state");
    const token = await own.exchangeCode(ada.told().code, verifier);
    const me = async ({ access_token: accessToken }) => {
      const client = new Client({ accessToken, baseUrl: here.server.url });
      return (await client.users.getMe({ userFields: ["public_metrics"] })).data.username;
    };
    assert.equal(await me(token), "ada");
    assert.equal(await me(await own.refreshToken()), "ada");
  });
}

people(here, "the official library: OAuth 1.0a", async (person) => {
  const { api_key: apiKey, api_secret: apiSecret } = web();
  const ada = await person();
  for (const isSignIn of [false, true]) {
    const own = new OAuth1({ apiKey, apiSecret, callback: here.callback });
    await own.getRequestToken();
    await ada.authorize(own.getAuthorizationUrl(isSignIn));
    const token = await own.getAccessToken(ada.told().oauth_verifier);
    assert.ok(token.accessToken.startsWith(`${here.server.env.USER_ID}-`));
    const fresh = new OAuth1({ apiKey, apiSecret, callback: here.callback, ...token });
    const client = new Client({ oauth1: fresh, baseUrl: here.server.url });
    assert.equal((await client.users.getMe()).data.username, "ada");
  }
  const byPin = new OAuth1({ apiKey, apiSecret, callback: "oob" });
  await byPin.getRequestToken();
  await ada.open(byPin.getAuthorizationUrl());
  await ada.press("Authorize app");
  assert.ok((await byPin.getAccessToken(await ada.pin())).accessToken);
});

/** A site that signs users in with a passport strategy; returns the resulting profile. */
async function site(strategy, act) {
  const [express, session, passport] = ["express", "express-session", "passport"].map(need);
  const app = express();
  const own = new passport.Passport();
  own.serializeUser((user, done) => done(null, user));
  own.deserializeUser((user, done) => done(null, user));
  app.use(session({ secret: "a secret", resave: false, saveUninitialized: false }));
  app.use(own.initialize());
  app.use(own.session());
  app.get("/", (asked, answer) => answer.json(asked.user ?? null));
  app.get("/login", own.authenticate("twitter"));
  app.get("/back", own.authenticate("twitter", { failureRedirect: "/?failed", successRedirect: "/" }));
  app.use((error, asked, answer, _) => answer.status(500).json({ error: String(error.stack), cause: error.oauthError }));
  const server = await new Promise((ready) => {
    const server = app.listen(0, "127.0.0.1", () => ready(server));
  });
  try {
    const url = `http://127.0.0.1:${server.address().port}`;
    own.use(strategy(url, `${url}/back`));
    await act(url);
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

/** Signs in to a site; returns the resulting profile. */
async function through(person, url, button = "Authorize app") {
  await person.open(`${url}/login`);
  if (await person.page.getByLabel("Password", { exact: true }).count()) await person.signIn();
  if (!person.page.url().startsWith(url)) await person.press(button);
  return JSON.parse(await person.page.locator("body").innerText());
}

people(here, "passport-twitter signs people in to a site", async (person) => {
  const { Strategy } = need("passport-twitter");
  const ada = await person();
  const make = (url, callbackURL) => {
    const app = here.server.app("A site with OAuth 1.0a", [callbackURL]);
    const at = (path) => here.server.url + path;
    return new Strategy({
      consumerKey: app.api_key,
      consumerSecret: app.api_secret,
      callbackURL,
      requestTokenURL: at("/oauth/request_token"),
      accessTokenURL: at("/oauth/access_token"),
      userAuthorizationURL: at("/oauth/authenticate"),
      userProfileURL: at("/1.1/account/verify_credentials.json"),
    }, (token, secret, profile, done) => done(null, { id: profile.id, username: profile.username, name: profile.displayName }));
  };
  await site(make, async (url) => {
    ada.allow(url);
    assert.equal(await through(ada, url, "Cancel"), null);
    assert.match(ada.page.url(), /failed/);
    const known = await through(ada, url);
    assert.equal(known.username, "ada");
    assert.equal(known.id, here.server.env.USER_ID);
    assert.equal(known.name, "Ada");
    await ada.open(`${url}/login`);
    assert.ok(ada.page.url().startsWith(url), "the second time nobody is asked");
  });
});

for (const clientType of ["confidential", "public"]) {
  people(here, `passport-twitter-oauth2 signs people in to a site, as a ${clientType} client`, async (person) => {
    const { Strategy } = need("@superfaceai/passport-twitter-oauth2");
    const ada = await person();
    const make = (url, callbackURL) => {
      const kind = clientType === "public" ? "native" : "web";
      const app = here.server.app("A site with OAuth 2.0", [callbackURL], "--kind", kind);
      return new Strategy({
        clientID: app.client_id,
        clientSecret: app.client_secret ?? "",
        clientType,
        callbackURL,
        authorizationURL: `${here.server.url}/i/oauth2/authorize`,
        tokenURL: `${here.server.url}/2/oauth2/token`,
        userProfileURL: `${here.server.url}/2/users/me?user.fields=profile_image_url,url`,
        scope: ["tweet.read", "offline.access"],
      }, (token, refresh, profile, done) => done(null, { id: profile.id, username: profile.username, refresh: !!refresh }));
    };
    await site(make, async (url) => {
      ada.allow(url);
      assert.equal(await through(ada, url, "Cancel"), null);
      const known = await through(ada, url);
      assert.deepEqual(known, { id: here.server.env.USER_ID, username: "ada", refresh: true });
    });
  });
}
