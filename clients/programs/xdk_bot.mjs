// Looks up a user with the official TypeScript library, and with fetch.

import assert from "node:assert/strict";

import { need } from "../node/packages.mjs";

const { Client } = need("@xdevplatform/xdk");
const { env } = process;
const client = new Client({ bearerToken: env.LOCUM_BEARER_TOKEN });
const found = await client.users.getByUsername(env.LOCUM_USERNAME);
assert.equal(found.data.id, env.LOCUM_USER_ID);
const headers = { authorization: `Bearer ${env.LOCUM_USER_TOKEN}` };
const me = await fetch("https://api.x.com/2/users/me", { headers });
assert.equal((await me.json()).data.username, env.LOCUM_USERNAME);
const direct = await fetch(`${env.LOCUM_BASE_URL}/readyz`);
assert.equal(direct.status, 200);
console.log("done");
