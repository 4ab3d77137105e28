// A development server as a child process, and its worlds.
"use strict";

const { execFile, spawn } = require("node:child_process");
const { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join, resolve } = require("node:path");
const { promisify } = require("node:util");

const { findBinary } = require("./binary.js");
const { Clock, ControlClient, Faults, Journal, Limits, LocumError, Snapshots } = require("./control.js");

const MAIN_WORLD = "main";
const STOP_MS = 30_000;
const SHOWN_LOG_LINES = 20;

class World {
  #isClosed = false;

  constructor(server, name, env) {
    Object.assign(this, { server, name, env });
    this.control = new ControlClient(server.controlAddress, server.controlToken, name);
    this.clock = new Clock(this.control);
    this.faults = new Faults(this.control);
    this.journal = new Journal(this.control);
    this.limits = new Limits(this.control);
    this.snapshots = new Snapshots(this.control);
  }

  get url() {
    return this.env.LOCUM_BASE_URL;
  }

  get adsUrl() {
    return this.env.LOCUM_ADS_URL;
  }

  get adsSandboxUrl() {
    return this.env.LOCUM_ADS_SANDBOX_URL;
  }

  async reset() {
    await this.control.request("POST", "/reset");
  }

  async runCommand(...command) {
    const place = ["--json", "--data-dir", this.server.dataDir];
    if (this.name !== MAIN_WORLD) place.push("--world", this.name);
    try {
      const { stdout } = await promisify(execFile)(this.server.binary, [...place, ...command], { maxBuffer: Infinity });
      return stdout ? JSON.parse(stdout) : undefined;
    } catch (error) {
      throw new LocumError(`locum ${command.join(" ")}: ${error.stderr?.trim() || error.message}`);
    }
  }

  async processEnv() {
    const { main } = this.server;
    const all = await main.runCommand("env", "--intercept");
    // A world may lack some of the main one's keys.
    const proxy = Object.entries(all).filter(([name]) => !(name in main.env));
    return { ...Object.fromEntries(proxy), ...this.env };
  }

  async close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // The worlds of a server that has ended are gone.
    if (this.server.isRunning) await this.server.main.control.request("DELETE", `/worlds/${this.name}`);
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

class Server {
  #process;
  #exit;
  #isTemporary;
  #created = 0;

  async start(options) {
    const { world = "demo", seed, clock = "live", dataDir, binary, timeout = 60_000, args = [] } = options;
    this.binary = binary ?? findBinary();
    this.#isTemporary = dataDir === undefined;
    this.dataDir = this.#isTemporary ? mkdtempSync(join(tmpdir(), "locum-")) : resolve(dataDir);
    const command = ["dev", "--json", "--until-eof", "--port", "0", "--control-port", "0", "--ads-sandbox-port", "0"];
    command.push("--data-dir", this.dataDir, "--world", worldSource(world), "--clock", clock);
    if (seed !== undefined) command.push("--seed", String(seed));
    if (this.#isTemporary) command.push("--remove-data", "--db", "sqlite");
    try {
      this.#spawn([...command, ...args]);
    } catch (error) {
      if (this.#isTemporary) rmSync(this.dataDir, { recursive: true, force: true });
      throw new LocumError(`${this.binary}: ${error.message}`);
    }
    try {
      const banner = JSON.parse(await this.#waitUntilReady(timeout));
      this.controlAddress = banner.control;
      this.controlToken = readFileSync(join(this.dataDir, "control.token"), "utf8").trim();
      this.emulatedHosts = banner.emulated_hosts;
      const control = new ControlClient(this.controlAddress, this.controlToken);
      const { variables } = await control.request("GET", `/worlds/${MAIN_WORLD}/keys`);
      this.main = new World(this, MAIN_WORLD, variables);
    } catch (error) {
      await this.close();
      throw error;
    }
    return this;
  }

  #spawn(command) {
    mkdirSync(this.dataDir, { recursive: true });
    const log = openSync(join(this.dataDir, "run.log"), "w");
    // Its input is closed however this process ends. Ctrl-C is for the tests, which may still send requests.
    this.#process = spawn(this.binary, command, { stdio: ["pipe", "pipe", log], detached: true });
    closeSync(log);
    this.#exit = new Promise((done) => {
      this.#process.once("exit", done);
      this.#process.once("error", done);
    });
    this.#process.stdin.on("error", () => {});
    // The tests may end without closing it.
    for (const handle of [this.#process, this.#process.stdin, this.#process.stdout]) handle.unref();
  }

  /** What the server writes to its output once it is ready. */
  #waitUntilReady(timeout) {
    const output = this.#process.stdout;
    let late, ended;
    const ready = new Promise((done, failed) => {
      const refuse = (what) => failed(new LocumError(`the server ${what}:\n${this.#endOfLog()}`));
      late = setTimeout(refuse, timeout, `is not ready after ${timeout} ms`);
      ended = () => refuse("did not start");
      output.once("close", ended);
      this.#process.once("error", (error) => failed(new LocumError(`${this.binary}: ${error.message}`)));
      let text = "";
      output.on("data", (part) => {
        text += part;
        if (text.endsWith("\n}\n")) done(text);
      });
    });
    return ready.finally(() => {
      clearTimeout(late);
      output.off("close", ended);
    });
  }

  #endOfLog() {
    const lines = readFileSync(join(this.dataDir, "run.log"), "utf8").trimEnd().split("\n");
    return lines.slice(-SHOWN_LOG_LINES).join("\n");
  }

  get isRunning() {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  get url() {
    return this.main.url;
  }

  get adsUrl() {
    return this.main.adsUrl;
  }

  get adsSandboxUrl() {
    return this.main.adsSandboxUrl;
  }

  get env() {
    return this.main.env;
  }

  get caFile() {
    return join(this.dataDir, "ca", "ca.pem");
  }

  async createWorld({ name, source = "demo" } = {}) {
    for (;;) {
      this.#created += 1;
      const body = { name: name ?? `world-${this.#created}`, from: worldSource(source) };
      try {
        const created = await this.main.control.request("POST", "/worlds", body);
        return new World(this, created.name, created.variables);
      } catch (error) {
        // A kept data directory has the worlds of a server that was killed.
        if (name || error.status !== 409) throw error;
      }
    }
  }

  async close() {
    this.#process.kill(this.#isTemporary ? "SIGKILL" : "SIGTERM");
    this.#process.stdin.destroy();
    const slow = setTimeout(() => this.#process.kill("SIGKILL"), STOP_MS);
    await this.#exit;
    clearTimeout(slow);
    if (this.#isTemporary) rmSync(this.dataDir, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}

/** The server may be asked from another directory. */
function worldSource(source) {
  return /\.(jsonl|toml)$/.test(source) ? resolve(source) : source;
}

function startServer(options = {}) {
  return new Server().start(options);
}

module.exports = { Server, World, startServer };
