// A site that signs users in with passport-twitter, and a user in Chromium who does so.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { need } from "../node/packages.mjs";

const [express, session, passport] = ["express", "express-session", "passport"].map(need);
const { Strategy } = need("passport-twitter");
const { chromium } = need("playwright-core");
const { env } = process;

const site = express();
site.use(session({ secret: "a secret", resave: false, saveUninitialized: false }));
site.use(passport.initialize());
site.use(passport.session());
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));
site.get("/", (request, response) => response.json(request.user ?? null));
site.get("/login", passport.authenticate("twitter"));
site.get("/back", passport.authenticate("twitter", { failureRedirect: "/?failed", successRedirect: "/" }));
const server = await new Promise((ready) => {
  const server = site.listen(0, "127.0.0.1", () => ready(server));
});
const url = `http://127.0.0.1:${server.address().port}`;

const create = ["app", "create", "A site", "--owner", env.LOCUM_USERNAME, "--callback", `${url}/back`, "--sign-in", "--json"];
const app = JSON.parse(execFileSync(env.LOCUM_BINARY, create));
const options = { consumerKey: app.api_key, consumerSecret: app.api_secret, callbackURL: `${url}/back` };
passport.use(new Strategy(options, (token, secret, { id, username }, done) => done(null, { id, username })));

const args = ["--no-sandbox", "--disable-gpu"];
if (env.HTTPS_PROXY) args.push(`--proxy-server=${env.HTTPS_PROXY}`);
const executablePath = env.LOCUM_CHROMIUM ?? "/usr/bin/chromium";
// Outside the sandbox, Chromium trusts only its own certificate authorities.
const launch = { executablePath, args, timeout: 30_000, ignoreHTTPSErrors: Boolean(env.HTTPS_PROXY) };
// A policy of the machine applies to an ordinary profile.
const profile = mkdtempSync(join(tmpdir(), "profile-"));
const browser = await chromium.launchPersistentContext(profile, launch);
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(15_000);
  await page.goto(`${url}/login`);
  assert.match(page.url(), /^https:\/\/api\.twitter\.com\//);
  await page.getByLabel("Username or email").fill(env.LOCUM_USERNAME);
  await page.getByLabel("Password", { exact: true }).fill(env.LOCUM_PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("button", { name: "Authorize app", exact: true }).click();
  await page.waitForURL(`${url}/`);
  assert.equal(JSON.parse(await page.locator("body").innerText()).username, env.LOCUM_USERNAME);
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
}
console.log("done");
