// The app's part of signing in, without a client library: requests signed by twitter-api-v2's
// signer, and PKCE.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";

import { need } from "./packages.mjs";

const { OAuth1Helper } = need("twitter-api-v2/dist/cjs/client-mixins/oauth1.helper.js");

/** Sends a signed request; returns the response's form parameters. */
export async function signed(server, app, method, path, data = {}, token = {}) {
  const helper = new OAuth1Helper({ consumerKeys: { key: app.api_key, secret: app.api_secret } });
  const url = server.url + path;
  const authorization = helper.toHeader(helper.authorize({ url, method, data }, token)).Authorization;
  const body = method === "POST" ? new URLSearchParams(data) : undefined;
  return fetch(url, { method, body, headers: { authorization } });
}

async function form(answer) {
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return Object.fromEntries(new URLSearchParams(text));
}

/** A request token and its authorization URL. */
export async function begin(server, app, callback, page = "authorize") {
  const answer = await signed(server, app, "POST", "/oauth/request_token", { oauth_callback: callback });
  const { oauth_token: key, oauth_token_secret: secret } = await form(answer);
  return { key, secret, address: `/oauth/${page}?oauth_token=${encodeURIComponent(key)}` };
}

/** The access token, for the verifier or the PIN. */
export async function finish(server, app, begun, verifier) {
  const data = { oauth_verifier: verifier };
  const given = await form(await signed(server, app, "POST", "/oauth/access_token", data, begun));
  return { key: given.oauth_token, secret: given.oauth_token_secret, username: given.screen_name };
}

/** The user of a token, or the error status. */
export async function whose(server, app, token) {
  const answer = await signed(server, app, "GET", "/2/users/me", {}, token);
  return answer.ok ? (await answer.json()).data.username : answer.status;
}

/** The OAuth 2.0 authorization URL, with the state and verifier. */
export function ask(app, callback, scopes = "tweet.read users.read offline.access") {
  const verifier = randomBytes(48).toString("base64url");
  const state = randomBytes(12).toString("base64url");
  const query = new URLSearchParams({
    response_type: "code",
    client_id: app.client_id,
    redirect_uri: callback,
    scope: scopes,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  return { verifier, state, callback, address: `/i/oauth2/authorize?${query}` };
}

/** The tokens, for a code. */
export async function exchange(server, app, asked, code) {
  const basic = Buffer.from(`${app.client_id}:${app.client_secret}`).toString("base64");
  const { callback: redirect_uri, verifier: code_verifier } = asked;
  const body = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri, code_verifier });
  const headers = { authorization: `Basic ${basic}` };
  const answer = await fetch(`${server.url}/2/oauth2/token`, { method: "POST", body, headers });
  const given = await answer.json();
  assert.equal(answer.status, 200, JSON.stringify(given));
  return given;
}
