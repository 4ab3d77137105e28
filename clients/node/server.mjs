// Runs the built binary for the suites in this directory: `locum dev` in its own directory.
//
// LOCUM_BINARY selects the binary. LOCUM_TEST_POSTGRES names a PostgreSQL server on which databases
// may be created; by default, the suites run on SQLite.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const ROOT = join(import.meta.dirname, "../..");
const left = new Set();
process.on("exit", () => left.forEach((child) => child.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

export class Server {
  /** Starts a server and waits until it responds. */
  static async start(...more) {
    const server = new Server();
    await server.#start(more);
    return server;
  }

  async #start(more) {
    const target = process.env.CARGO_TARGET_DIR ?? "target";
    this.binary = process.env.LOCUM_BINARY ?? resolve(ROOT, target, "debug/locum");
    this.folder = mkdtempSync(join(tmpdir(), "locum-client-"));
    this.data = join(this.folder, "data");
    this.place = ["--data-dir", this.data];
    const administration = process.env.LOCUM_TEST_POSTGRES;
    if (administration) {
      this.database = `client_node_${process.pid}_${left.size}`;
      this.#psql(`CREATE DATABASE ${this.database}`);
      this.place.push("--db", administration.replace(/[^/]*$/, this.database));
    }
    const log = openSync(join(this.folder, "log"), "a");
    const fixed = ["dev", "--port", "0", "--control-port", "0", "--rate-limits", "off"];
    fixed.push("--set", "listen.trusted_proxies=127.0.0.1");
    const how = { cwd: this.folder, stdio: ["ignore", log, log] };
    this.process = spawn(this.binary, [...fixed, ...this.place, ...more], how);
    left.add(this.process);
    this.ended = new Promise((done) => this.process.once("exit", done));
    this.url = await this.#until(() => JSON.parse(this.#read("server.json")).base_url);
    await this.#until(async () => (await fetch(`${this.url}/readyz`)).ok || undefined);
    const lines = this.#read("dev.env").trim().split("\n");
    const pairs = lines.map((line) => line.replace(/^LOCUM_/, "").match(/^(.*?)=(.*)$/s));
    this.env = Object.fromEntries(pairs.map(([, name, value]) => [name, value]));
  }

  #read(name) {
    return readFileSync(join(this.data, name), "utf8");
  }

  async #until(ask) {
    for (const end = Date.now() + 90_000; ; await sleep(20)) {
      const answer = await Promise.resolve().then(ask).catch(() => undefined);
      if (answer !== undefined) return answer;
      if (this.process.exitCode !== null || Date.now() > end) {
        throw new Error(`the server did not start: ${readFileSync(join(this.folder, "log"), "utf8")}`);
      }
    }
  }

  /** The output of a command on this server's data. */
  cli(...command) {
    const how = { cwd: this.folder, encoding: "utf8", timeout: 20_000 };
    return JSON.parse(execFileSync(this.binary, [...command, "--json", ...this.place], how));
  }

  /** Registers an app with everything needed for signing in. */
  app(name, callbacks, ...more) {
    const owner = ["--owner", `@${this.env.USERNAME}`, "--sign-in"];
    const named = callbacks.flatMap((callback) => ["--callback", callback]);
    return this.cli("app", "create", name, ...owner, ...named, ...more);
  }

  /** The JSON body and the status of a response. */
  async ask(path, token) {
    const answer = await fetch(this.url + path, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, ...(await answer.json()) };
  }

  async close() {
    this.process.kill("SIGTERM");
    const slow = setTimeout(() => this.process.kill("SIGKILL"), 10_000);
    await this.ended;
    clearTimeout(slow);
    left.delete(this.process);
    if (existsSync(this.folder)) rmSync(this.folder, { recursive: true, force: true });
    if (this.database) this.#psql(`DROP DATABASE IF EXISTS ${this.database} WITH (FORCE)`);
  }

  #psql(statement) {
    execFileSync("psql", ["-qX", process.env.LOCUM_TEST_POSTGRES, "-c", statement], { timeout: 20_000 });
  }
}
