export type Json = Record<string, any>;
/** A Date, RFC 3339, or `now` where the control API takes it. */
export type Time = Date | string;

/** A server that did not start, did not answer, or refused a call; `status` is the HTTP status of a refusal. */
export class LocumError extends Error {
  readonly status?: number;
}

export interface ServerOptions {
  /** The main world: `demo` (the default), `ads`, `empty` or a world file. */
  world?: string;
  /** Of the generated ids and keys. */
  seed?: number;
  /** `live` (the default), `frozen` or a time. */
  clock?: string;
  /** Where the data is kept; by default in a temporary folder that is removed at the end. */
  dataDir?: string;
  binary?: string;
  /** In milliseconds, until the server is ready; 60,000 by default. */
  timeout?: number;
  /** Further arguments of `locum dev`. */
  args?: string[];
}

/** Starts `locum dev` on free ports. It ends with `close()`, and when this process ends, however that happens. */
export function startServer(options?: ServerOptions): Promise<Server>;

export class Server implements AsyncDisposable {
  private constructor();
  readonly binary: string;
  readonly dataDir: string;
  readonly url: string;
  readonly adsUrl: string;
  readonly adsSandboxUrl: string;
  /** The addresses, and the keys of the main world: the lines of `dev.env`. */
  readonly env: Record<string, string>;
  /** The certificate of the authority of the server's certificates (PEM). */
  readonly caFile: string;
  readonly emulatedHosts: string[];
  readonly isRunning: boolean;
  readonly main: World;
  /**
   * Creates a world, by default with a name that this server has not had. `source` is `demo` (the default), `ads`,
   * `empty`, a world file or the name of a snapshot.
   */
  createWorld(options?: { name?: string; source?: string }): Promise<World>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** An isolated world with keys and testing tools of its own. */
export class World implements AsyncDisposable {
  private constructor();
  readonly server: Server;
  readonly name: string;
  /** The API's base URL. All worlds of a server share it: the keys select the world. */
  readonly url: string;
  readonly adsUrl: string;
  readonly adsSandboxUrl: string;
  readonly env: Record<string, string>;
  readonly control: ControlClient;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly journal: Journal;
  readonly limits: Limits;
  readonly snapshots: Snapshots;
  /** Returns to the seed: the same ids, keys and tokens as after the creation. */
  reset(): Promise<void>;
  /** The output of a `locum` command on this world, such as `runCommand("user", "show", "@ada")`. */
  runCommand(...command: string[]): Promise<any>;
  /** Variables for a child process that is to reach this world under the public hosts' names, by a proxy. */
  processEnv(): Promise<Record<string, string>>;
  /** Removes the world with everything in it. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ControlClient {
  readonly address: string;
  /** The answer's `data`, or the whole answer if it has none. `path` is below `/control/v1`. */
  request(method: string, path: string, body?: Json, query?: Json): Promise<any>;
}

/** Methods that move the clock return a report of what happened on the way. */
export interface Clock {
  show(): Promise<Json>;
  now(): Promise<Date>;
  freeze(time?: Time): Promise<Json>;
  set(time: Time): Promise<Json>;
  /** A span such as `8d` or `1d12h`, or milliseconds. */
  advance(span: string | number): Promise<Json>;
  scale(factor: number): Promise<Json>;
  live(): Promise<Json>;
}

export interface FaultConditions {
  id?: string;
  method?: string;
  route?: string;
  app?: string;
  user?: string;
  account?: string;
  stream?: string;
  webhook?: string;
  nth?: number;
  after?: number;
  every?: number;
  probability?: number;
  times?: number;
  until?: Time;
}

export interface Faults {
  /** Adds a rule; its id. Further members are parameters of the effect, such as `status` or `resetSeconds`. */
  add(effect: string, rule?: FaultConditions & Json): Promise<string>;
  /** The rules in the order in which they are compared, with how often each `matched` and was `applied`. */
  list(): Promise<Json[]>;
  remove(id: string): Promise<void>;
  clear(): Promise<void>;
}

export interface RequestFilters {
  method?: string;
  status?: number | string;
  app?: string;
  user?: string;
  label?: string;
  fault?: string;
  since?: Time;
  text?: string;
  limit?: number;
}

export interface Journal {
  /** The newest requests that match, oldest first, without headers and bodies. */
  requests(route?: string, filters?: RequestFilters): Promise<Json[]>;
  /** A request with headers, bodies and what it caused. */
  request(id: string): Promise<Json>;
  /** Waits until all checks hold, such as `POST /2/tweets status=201 count=3`; `timeout` is in milliseconds (5,000). */
  expect(checks: string | Json | (string | Json)[], options?: { timeout?: number }): Promise<void>;
  clear(): Promise<void>;
}

export interface LimitOwner {
  app?: string;
  user?: string;
}

export interface Limits {
  show(endpoint?: string, owner?: LimitOwner): Promise<Json>;
  setMode(mode: "table" | "relaxed" | "off" | "scale", factor?: number): Promise<void>;
  /** Uses up a window, so that the next call is refused with 429. */
  exhaust(endpoint: string, options?: LimitOwner & { windowSeconds?: number }): Promise<void>;
  reset(endpoint?: string, owner?: LimitOwner): Promise<void>;
}

/** All worlds of a server share the names. */
export interface Snapshots {
  list(): Promise<Json[]>;
  save(name: string): Promise<void>;
  load(name: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** The rows that changed since a snapshot, up to now or up to another one. */
  diff(name: string, other?: string): Promise<Json>;
}

export interface Interception extends Disposable {
  close(): void;
}

/**
 * Until it is closed, TLS connections of this process to the emulated hosts reach the server. Other hosts are not
 * affected. The keys that a client uses select the world.
 */
export function intercept(world: World | Server): Interception;
