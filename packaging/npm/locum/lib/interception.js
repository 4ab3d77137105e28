// Leads clients in this process that name the public hosts to a development server.
"use strict";

const { readFileSync } = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const tls = require("node:tls");

/** Of the interceptions that are active; the last one that has a host wins. */
const targets = [];
let connectDirectly;

/**
 * `https`, `fetch` and `http2` open TLS connections with `tls.connect`, whenever a client was made. Those to an emulated
 * host go to the server instead, and trust its authority and nothing else.
 */
function connect(...call) {
  const options = readOptions(call);
  const host = String(options.host ?? options.servername ?? "").toLowerCase();
  const target = options.socket ? undefined : targets.findLast(({ hosts }) => hosts.has(host));
  if (!target) return connectDirectly.apply(this, call);
  const { ca, hostname, port } = target;
  const trusted = { ca, secureContext: undefined, session: undefined, lookup: undefined, path: undefined };
  const callback = call.findLast((argument) => typeof argument === "function");
  return connectDirectly({ ...options, ...trusted, servername: host, host: hostname, port }, callback);
}

/** Of `connect(options)`, `connect(port, options)` and `connect(port, host, options)`. */
function readOptions(call) {
  const options = { ...call.find((argument) => argument !== null && typeof argument === "object") };
  if (typeof call[0] !== "object") options.port = call[0];
  if (typeof call[1] === "string") options.host = call[1];
  return options;
}

function intercept(world) {
  const server = world.server ?? world;
  const { hostname, port } = new URL(server.url);
  const target = { hosts: new Set(server.emulatedHosts), hostname, port, ca: readFileSync(server.caFile) };
  if (targets.length === 0) {
    connectDirectly = tls.connect;
    replaceConnect(connect);
  }
  targets.push(target);
  const close = () => {
    const at = targets.indexOf(target);
    if (at < 0) return;
    targets.splice(at, 1);
    if (targets.length === 0) replaceConnect(connectDirectly);
  };
  return { close, [Symbol.dispose]: close };
}

function replaceConnect(replacement) {
  tls.connect = replacement;
  syncBuiltinESMExports();
}

module.exports = { intercept };
