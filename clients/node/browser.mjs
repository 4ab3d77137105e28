// Users in Chromium.

import { createServer } from "node:http";

import { need } from "./packages.mjs";

const { chromium } = need("playwright-core");

const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // No host name resolves to another machine.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];
const PATIENCE = 10_000;

/** The password of test users. */
export const PASSWORD = "trams stop at the harbour";

export class Browser {
  /** Starts Chromium with a new profile, and the site that apps redirect to. */
  static async start() {
    const browser = new Browser();
    const executablePath = process.env.LOCUM_CHROMIUM ?? "/usr/bin/chromium";
    browser.chromium = await chromium.launch({ executablePath, args: QUIET, timeout: 30_000 });
    browser.site = await Site.start();
    return browser;
  }

  /** A new user with an empty browser profile. */
  async person(server, settings = {}) {
    // Each user has a separate IP address, so that rate limits do not affect others.
    const own = { "x-forwarded-for": `203.0.113.${(this.people = (this.people ?? 0) + 1) % 250}` };
    const usual = { viewport: { width: 1280, height: 900 }, extraHTTPHeaders: own };
    const context = await this.chromium.newContext({ ...usual, ...settings });
    context.setDefaultTimeout(PATIENCE);
    const person = new Person(server, this.site, context, await context.newPage());
    person.watch();
    return person;
  }

  async close() {
    await this.chromium.close();
    await this.site.close();
  }
}

/** Another site, for apps and for pages that try to frame ours. */
class Site {
  static async start() {
    const site = new Site();
    site.pages = new Map();
    site.redirects = new Map();
    site.server = createServer((request, answer) => {
      const { pathname } = new URL(request.url, "http://site");
      answer.setHeader("content-type", "text/html; charset=utf-8");
      if (site.redirects.has(pathname)) answer.writeHead(302, { location: site.redirects.get(pathname) });
      answer.end(site.pages.get(pathname) ?? "<!doctype html><title>Elsewhere</title><p>Welcome back.");
    });
    await new Promise((ready) => site.server.listen(0, "127.0.0.1", ready));
    site.url = `http://127.0.0.1:${site.server.address().port}`;
    site.callback = `${site.url}/callback`;
    return site;
  }

  /** Serves a page at a path; returns its URL. */
  put(path, html) {
    this.pages.set(path, html);
    return this.url + path;
  }

  /** Redirects from a path; returns its URL. */
  redirect(path, to) {
    this.redirects.set(path, to);
    return this.url + path;
  }

  async close() {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

/** One user: a browser profile with one tab. */
export class Person {
  constructor(server, site, context, page) {
    Object.assign(this, { server, site, context, page, trouble: [] });
  }

  /** Records forbidden behaviour of pages. */
  watch() {
    this.allowed = [this.server.url, this.site.url];
    this.context.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== "data:" && !this.allowed.includes(origin)) this.trouble.push(`asked ${request.url()}`);
    });
    this.context.on("dialog", (dialog) => {
      this.trouble.push(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    this.context.on("weberror", (error) => this.trouble.push(`error: ${error.error()}`));
    this.context.on("console", (message) => {
      if (/content security policy/i.test(message.text())) this.trouble.push(message.text());
    });
  }

  /** Allows the browser to visit another site. */
  allow(origin) {
    this.allowed.push(origin);
  }

  /** Opens a path or a URL of the public service on the server; other URLs unchanged. */
  async open(address) {
    const url = new URL(address, this.server.url);
    const public_ = /(^|\.)(x|twitter)\.com$/.test(url.hostname);
    return this.page.goto(public_ ? this.server.url + url.pathname + url.search : url.href);
  }

  async #leads(act) {
    try {
      await Promise.all([this.page.waitForEvent("load"), act()]);
    } catch (error) {
      throw new Error(`${error.message}\nat ${this.page.url()}, ${this.trouble.join("; ") || "no trouble"}`);
    }
  }

  /** Clicks a button that submits its form. */
  async press(name, within = this.page) {
    await this.#leads(() => within.getByRole("button", { name, exact: true }).click());
  }

  /** Follows a link. */
  async follow(name, within = this.page) {
    await this.#leads(() => within.getByRole("link", { name, exact: true }).click());
  }

  /** Selects an item of the account menu. */
  async choose(name) {
    const menu = this.page.locator("details.menu");
    await menu.locator("summary").click();
    await this.follow(name, menu);
  }

  /** Fills in fields by their labels. */
  async fill(fields) {
    for (const [label, value] of Object.entries(fields)) {
      await this.page.getByLabel(label, { exact: true }).fill(value);
    }
  }

  /** Selects a radio button or checkbox. */
  async pick(label) {
    await this.page.locator("label", { hasText: label }).click();
  }

  async reload() {
    await this.page.reload();
  }

  heading() {
    return this.page.locator("h1").innerText();
  }

  text() {
    return this.page.locator("main").innerText();
  }

  path() {
    return new URL(this.page.url()).pathname;
  }

  /** The query of the current URL. */
  told() {
    return Object.fromEntries(new URL(this.page.url()).searchParams);
  }

  /** Whether the browser was redirected to the app. */
  isBack() {
    return this.page.url().startsWith(this.site.url);
  }

  async signIn(username = this.server.env.USERNAME, password = this.server.env.PASSWORD) {
    await this.fill({ "Username or email": username, Password: password });
    await this.press("Sign in");
  }

  /** Fills in the registration form, derived from the username. */
  async join(username) {
    const own = { Name: `The ${username}`, Username: username, Email: `${username}@example.com` };
    await this.fill({ ...own, Password: PASSWORD });
    await this.press("Create account");
  }

  /** Creates an account and signs in. */
  async become(username) {
    const own = ["--password", PASSWORD, "--email", `${username}@example.com`];
    this.server.cli("user", "create", username, ...own);
    await this.open("/login");
    await this.signIn(username, PASSWORD);
    return this;
  }

  /** Signs in if needed and answers the app's request; returns the resulting URL. */
  async authorize(address, decision = "Authorize app") {
    if (address) await this.open(address);
    if (!this.isBack() && (await this.page.getByLabel("Password", { exact: true }).count())) await this.signIn();
    if (!this.isBack()) await this.press(decision);
    return this.page.url();
  }

  /** The PIN on the page. */
  async pin() {
    return (await this.page.locator(".pin").innerText()).replace(/\s/g, "");
  }

  async leave() {
    await this.context.close();
  }
}
