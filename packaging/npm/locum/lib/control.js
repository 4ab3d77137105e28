// The control API of a development server, and its testing tools for one world.
"use strict";

const http = require("node:http");
const { setTimeout: sleep } = require("node:timers/promises");

// Moving the clock takes up to a minute, and waits for receivers.
const TIMEOUT_MS = 120_000;
const POLL_MS = 20;
const LONGEST_JOURNAL_PAGE = 1000;
const CONDITIONS = new Set(
  "method route app user account stream webhook nth after every probability times until".split(" "),
);

class LocumError extends Error {
  name = "LocumError";

  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

class ControlClient {
  #headers;

  constructor(address, token, world) {
    this.address = address;
    this.#headers = { authorization: `Bearer ${token}`, ...(world && { "x-locum-world": world }) };
  }

  async request(method, path, body, query) {
    const parameters = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
    const search = parameters.length ? `?${new URLSearchParams(parameters)}` : "";
    const content = method === "POST" || method === "PUT" ? JSON.stringify(body ?? {}) : undefined;
    const { status, text } = await this.#send(method, `/control/v1${path}${search}`, content).catch((error) => {
      throw new LocumError(`${method} ${path}: the server at ${this.address} does not answer: ${error.message}`);
    });
    if (status >= 400) throw new LocumError(`${method} ${path}: ${errorMessage(text)}`, status);
    const answer = text ? JSON.parse(text) : {};
    return answer.data ?? answer;
  }

  #send(method, path, content) {
    const headers = { ...this.#headers };
    if (content !== undefined) {
      headers["content-type"] = "application/json";
      headers["content-length"] = Buffer.byteLength(content);
    }
    const [host, port] = this.address.split(":");
    return new Promise((done, failed) => {
      // A connection of its own does not keep the process alive afterwards.
      const options = { host, port, method, path, headers, agent: false, timeout: TIMEOUT_MS };
      const request = http.request(options, (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("end", () => done({ status: response.statusCode, text: Buffer.concat(parts).toString() }));
        response.on("error", failed);
      });
      request.on("timeout", () => request.destroy(new Error("timed out")));
      request.on("error", failed);
      request.end(content);
    });
  }
}

function errorMessage(text) {
  try {
    const answer = JSON.parse(text);
    const messages = (answer.errors ?? []).map((error) => error.message);
    return messages.join("; ") || answer.detail || text.trim();
  } catch {
    return text.trim();
  }
}

const formatTime = (time) => (time instanceof Date ? time.toISOString() : time);
const snakeCase = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const segment = encodeURIComponent;

class Tool {
  constructor(control) {
    this.control = control;
  }
}

class Clock extends Tool {
  show() {
    return this.control.request("GET", "/clock");
  }

  async now() {
    return new Date((await this.show()).now);
  }

  freeze(time) {
    return this.#order("freeze", { time: formatTime(time) });
  }

  set(time) {
    return this.#order("set", { time: formatTime(time) });
  }

  advance(span) {
    return this.#order("advance", { by: typeof span === "number" ? `${Math.round(span)}ms` : span });
  }

  scale(factor) {
    return this.#order("scale", { factor });
  }

  live() {
    return this.#order("live");
  }

  async #order(order, body) {
    return (await this.control.request("POST", `/clock/${order}`, body)).report;
  }
}

class Faults extends Tool {
  async add(effect, { id, ...fields } = {}) {
    const rule = { id, match: {}, effect: { name: effect } };
    for (const [name, value] of Object.entries(fields)) {
      const isCondition = CONDITIONS.has(name);
      (isCondition ? rule.match : rule.effect)[snakeCase(name)] = formatTime(value);
    }
    return (await this.control.request("POST", "/faults", { rules: [rule] })).ids[0];
  }

  list() {
    return this.control.request("GET", "/faults");
  }

  async remove(id) {
    await this.control.request("DELETE", `/faults/${segment(id)}`);
  }

  async clear() {
    await this.control.request("DELETE", "/faults");
  }
}

class Journal extends Tool {
  async requests(route, { since, limit = LONGEST_JOURNAL_PAGE, ...filters } = {}) {
    const query = { route, since: formatTime(since), limit, ...filters };
    return (await this.control.request("GET", "/requests", undefined, query)).reverse();
  }

  request(id) {
    return this.control.request("GET", `/requests/${segment(id)}`);
  }

  async expect(checks, { timeout = 5000 } = {}) {
    // Counted, because tests replace the clocks.
    for (let polls = Math.ceil(timeout / POLL_MS); ; polls -= 1) {
      const outcome = await this.control.request("POST", "/assert", { checks: [checks].flat() });
      if (outcome.passed) return;
      if (polls <= 0) {
        const failed = outcome.results.filter((result) => !result.passed);
        throw new Error(failed.map(describeFailedCheck).join("\n"));
      }
      await sleep(POLL_MS);
    }
  }

  async clear() {
    await this.control.request("DELETE", "/requests");
  }
}

function describeFailedCheck(result) {
  const misses = result.near_misses.map((miss) => `  near miss: ${JSON.stringify(miss)}`);
  return [`${result.check}: ${result.count} requests match`, ...misses].join("\n");
}

class Limits extends Tool {
  show(endpoint, { app, user } = {}) {
    return this.control.request("GET", "/limits", undefined, { endpoint, app, user });
  }

  async setMode(mode, factor) {
    await this.control.request("POST", "/limits/mode", { mode, factor });
  }

  async exhaust(endpoint, { app, user, windowSeconds } = {}) {
    await this.control.request("POST", "/limits/exhaust", { endpoint, app, user, window_seconds: windowSeconds });
  }

  async reset(endpoint, { app, user } = {}) {
    await this.control.request("POST", "/limits/reset", { endpoint, app, user });
  }
}

class Snapshots extends Tool {
  list() {
    return this.control.request("GET", "/snapshots");
  }

  async save(name) {
    await this.control.request("POST", "/snapshots", { name });
  }

  async load(name) {
    await this.control.request("POST", `/snapshots/${segment(name)}/load`);
  }

  async remove(name) {
    await this.control.request("DELETE", `/snapshots/${segment(name)}`);
  }

  diff(name, other) {
    return this.control.request("GET", `/snapshots/${segment(name)}/diff`, undefined, { with: other });
  }
}

module.exports = { Clock, ControlClient, Faults, Journal, Limits, LocumError, Snapshots };
