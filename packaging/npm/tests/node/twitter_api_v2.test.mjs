// twitter-api-v2, unmodified, and the testing tools, with node:test.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import tls from "node:tls";

import { LocumError, intercept, startServer } from "locum";
import { useLocum } from "locum/node-test";
import { ETwitterStreamEvent, TwitterApi } from "twitter-api-v2";

const locum = useLocum();
const URL_OF_ME = "https://api.x.com/2/users/me";
let interception;
beforeEach(() => (interception = intercept(locum.world)));
afterEach(() => interception.close());

function userClient({ env }) {
  return new TwitterApi({
    appKey: env.LOCUM_API_KEY,
    appSecret: env.LOCUM_API_SECRET,
    accessToken: env.LOCUM_ACCESS_TOKEN,
    accessSecret: env.LOCUM_ACCESS_TOKEN_SECRET,
  });
}

const authorization = ({ env }) => ({ authorization: `Bearer ${env.LOCUM_USER_TOKEN}` });

async function waitUntil(isTrue) {
  for (const end = Date.now() + 20_000; !isTrue(); await sleep(20)) assert.ok(Date.now() < end);
}

function exists(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("post is written and read", async () => {
  const { world } = locum;
  const client = userClient(world);
  const { data } = await client.v2.tweet("Hello from a test");
  assert.equal((await client.v2.singleTweet(data.id)).data.text, "Hello from a test");
  await world.journal.expect('POST /2/tweets status=201 request.text="Hello from a test" count=1');
});

test("refused call is reported, and the next one works", async () => {
  const { world } = locum;
  await world.faults.add("rate-limit", { route: "GET /2/users/me", times: 1, resetSeconds: 60 });
  await assert.rejects(userClient(world).v2.me(), (error) => error.code === 429);
  assert.equal((await userClient(world).v2.me()).data.username, world.env.LOCUM_USERNAME);
  assert.equal((await world.faults.list())[0].applied, 1);
});

test("post has the time of the world", async () => {
  const { world } = locum;
  await world.clock.freeze();
  const before = await world.clock.now();
  await world.clock.advance("1d");
  assert.equal((await world.clock.now()) - before, 86_400_000);
  const { data } = await userClient(world).v2.tweet("a day later");
  const written = await userClient(world).v2.singleTweet(data.id, { "tweet.fields": ["created_at"] });
  assert.ok(Math.abs(new Date(written.data.created_at) - (await world.clock.now())) < 1000);
});

test("expired token is refused", async () => {
  const { world } = locum;
  await world.faults.add("expire-token", { times: 1 });
  await assert.rejects(new TwitterApi(world.env.LOCUM_USER_TOKEN).v2.me(), (error) => error.code === 401);
});

test("stream delivers a post", async () => {
  const { world } = locum;
  const app = new TwitterApi(world.env.LOCUM_BEARER_TOKEN);
  await app.v2.updateStreamRules({ add: [{ value: "streamed" }] });
  const stream = await app.v2.searchStream({ autoConnect: true });
  const received = new Promise((done) => stream.on(ETwitterStreamEvent.Data, done));
  await userClient(world).v2.tweet("streamed to a test");
  assert.equal((await received).data.text, "streamed to a test");
  stream.close();
});

test("fetch and https reach the world, and everything is restored", async () => {
  const { world } = locum;
  const headers = authorization(world);
  assert.equal((await (await fetch(URL_OF_ME, { headers })).json()).data.id, world.env.LOCUM_USER_ID);
  const status = await new Promise((done, failed) => {
    https.get(URL_OF_ME, { headers }, (response) => done(response.resume().statusCode)).on("error", failed);
  });
  assert.equal(status, 200);
  const replaced = tls.connect;
  const inner = intercept(locum.server);
  interception.close();
  assert.equal(tls.connect, replaced);
  inner.close();
  assert.notEqual(tls.connect, replaced);
});

test("other hosts are not affected", async () => {
  const other = http.createServer((_, response) => response.end("other"));
  await new Promise((done) => other.listen(0, "localhost", done));
  assert.equal(await (await fetch(`http://localhost:${other.address().port}`)).text(), "other");
  other.closeAllConnections();
  other.close();
  const { port } = new URL(locum.server.url);
  await assert.rejects(fetch(`https://localhost:${port}/2/users/me`), "its authority is not trusted elsewhere");
});

test("worlds are isolated", async () => {
  const other = await locum.server.createWorld({ source: "demo" });
  await userClient(locum.world).v2.tweet("only here");
  await other.journal.expect("POST /2/tweets count=0");
  await other.close();
  await assert.rejects(userClient(other).v2.me(), (error) => error.code === 401);
});

test("journal shows and checks requests", async () => {
  const { journal } = locum.world;
  await userClient(locum.world).v2.tweet("recorded");
  const [entry] = await journal.requests("POST /2/tweets", { status: 201 });
  assert.deepEqual((await journal.request(entry.id)).request.body, { text: "recorded" });
  await assert.rejects(journal.expect("POST /2/tweets count=2", { timeout: 0 }), /count=2: 1 requests match/);
  await journal.clear();
  assert.deepEqual(await journal.requests(), []);
});

test("limits, snapshots, commands and resets act on the world", async () => {
  const { world } = locum;
  await world.limits.exhaust("GET /2/users/me");
  await assert.rejects(userClient(world).v2.me(), (error) => error.code === 429);
  await world.limits.reset();
  await world.limits.setMode("off");
  assert.equal((await world.limits.show()).mode, "off");
  const name = `${world.name}-before`;
  await world.snapshots.save(name);
  await world.runCommand("user", "create", "quentin", "--password", "a long secret");
  assert.ok((await world.snapshots.diff(name)).tables);
  await world.snapshots.load(name);
  await assert.rejects(world.runCommand("user", "show", "@quentin"), LocumError);
  await world.snapshots.remove(name);
  await world.reset();
  assert.equal((await userClient(world).v2.me()).data.id, world.env.LOCUM_USER_ID);
});

test("refusal has the text of the server", async () => {
  await assert.rejects(locum.world.faults.add("no-such-effect"), (error) => {
    return error instanceof LocumError && error.status === 400 && error.message.includes("no-such-effect");
  });
});

test("child process reaches the world", async () => {
  const program = `
    fetch(${JSON.stringify(URL_OF_ME)}, { headers: { authorization: "Bearer " + process.env.LOCUM_USER_TOKEN } })
      .then((answer) => answer.json()).then(({ data }) => console.log(data.id));
  `;
  const env = { ...process.env, ...(await locum.world.processEnv()) };
  assert.equal(execFileSync("node", ["-e", program], { env, encoding: "utf8" }).trim(), locum.world.env.LOCUM_USER_ID);
});

test("server that cannot start shows its log", async () => {
  await assert.rejects(startServer({ world: "no-such-world" }), /did not start:[^]*no-such-world/);
  await assert.rejects(startServer({ timeout: 1 }), /not ready after 1 ms/);
  await assert.rejects(startServer({ binary: "/no/such/file" }), LocumError);
});

test("data directory and world file are used", async () => {
  const folder = mkdtempSync(join(tmpdir(), "locum-test-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "world.toml");
  writeFileSync(file, '[[user]]\nusername = "eve"\n');
  for (let start = 0; start < 2; start++) {
    const server = await startServer({ world: file, dataDir: join(folder, "data"), clock: "frozen" });
    assert.equal((await server.main.runCommand("user", "show", "@eve")).username, "eve");
    const { env, name } = await server.createWorld({ source: "empty" });
    assert.equal(name, `world-${start + 1}`);
    assert.ok(!("LOCUM_USER_TOKEN" in env));
    await server.close();
  }
});

test("server ends when the test process is killed", async () => {
  const program = `
    import { startServer } from "locum";
    const server = await startServer({ world: "empty" });
    const { pid } = JSON.parse((await import("node:fs")).readFileSync(server.dataDir + "/server.json"));
    console.log(JSON.stringify({ pid, folder: server.dataDir }));
    setTimeout(() => {}, 600_000);
  `;
  const child = spawn("node", ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const { pid, folder } = JSON.parse(await new Promise((done) => child.stdout.once("data", done)));
  assert.ok(exists(pid));
  child.kill("SIGKILL");
  await waitUntil(() => !existsSync(folder) && !exists(pid));
});

test("command passes arguments and the exit code on", () => {
  const command = join(import.meta.dirname, "../node_modules/.bin/locum");
  assert.match(execFileSync(command, ["--version"], { encoding: "utf8" }), /^locum /);
  assert.throws(() => execFileSync(command, ["no-such-command"], { stdio: "ignore" }), (error) => error.status === 2);
});
