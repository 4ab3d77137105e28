// Sends requests of Node's https, http and fetch through the proxy of HTTPS_PROXY. Newer versions of Node do so
// themselves with NODE_USE_ENV_PROXY.
"use strict";

const [major, minor] = process.versions.node.split(".").map(Number);
const builtIn = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
const address = process.env.HTTPS_PROXY || process.env.https_proxy;
if (address && !builtIn) install(new URL(address));

function install(proxy) {
  const http = require("node:http");
  const https = require("node:https");
  const net = require("node:net");
  const tls = require("node:tls");

  const isLoopback = (host) =>
    !host || host === "localhost" || host.endsWith(".localhost") || host === "::1" || host.startsWith("127.");

  /** Calls back with a connection to the host through the proxy. */
  function connect(host, port, done) {
    const request = http.request({
      agent: false,
      host: proxy.hostname,
      port: proxy.port || 80,
      method: "CONNECT",
      path: `${host}:${port}`,
      headers: { host: `${host}:${port}` },
      createConnection: (options) => net.connect(options),
    });
    request.once("connect", (response, socket) => {
      if (response.statusCode === 200) return done(null, socket);
      socket.destroy();
      done(new Error(`the proxy refused ${host}:${port} with status ${response.statusCode}`));
    });
    request.once("error", done);
    request.end();
  }

  function secure(options, done) {
    connect(options.host, options.port || 443, (error, socket) => {
      if (error) return done(error);
      const { host, port, path, ...rest } = options;
      const servername = options.servername || (net.isIP(host) ? "" : host);
      const stream = tls.connect({ ...rest, servername, socket });
      stream.once("secureConnect", () => stream.removeListener("error", done) && done(null, stream));
      stream.once("error", done);
    });
  }

  function replace(agent, open) {
    const original = agent.prototype.createConnection;
    agent.prototype.createConnection = function (options, done) {
      const isDirect = options.socketPath || isLoopback(options.host) || typeof done !== "function";
      return isDirect ? original.apply(this, arguments) : void open(options, done);
    };
  }

  replace(https.Agent, secure);
  replace(http.Agent, (options, done) => connect(options.host, options.port || 80, done));

  // fetch is replaced until its first call, which loads its implementation.
  const fetch = globalThis.fetch;
  if (!fetch) return;
  globalThis.fetch = function (...call) {
    globalThis.fetch = fetch;
    void globalThis.Response;
    const dispatcher = Symbol.for("undici.globalDispatcher.1");
    const Agent = globalThis[dispatcher]?.constructor;
    if (Agent) globalThis[dispatcher] = new Agent({ connect: openForFetch });
    return fetch.apply(this, call);
  };

  function openForFetch({ hostname, port, protocol, servername }, done) {
    const isSecure = protocol === "https:";
    const options = { host: hostname, port: port || (isSecure ? 443 : 80), servername: servername || undefined };
    if (isSecure) options.ALPNProtocols = ["http/1.1"];
    if (!isLoopback(hostname)) return isSecure ? secure(options, done) : connect(options.host, options.port, done);
    const socket = (isSecure ? tls : net).connect(options);
    socket.once(isSecure ? "secureConnect" : "connect", () => socket.removeListener("error", done) && done(null, socket));
    socket.once("error", done);
  }
}
