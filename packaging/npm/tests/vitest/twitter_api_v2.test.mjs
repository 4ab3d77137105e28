// twitter-api-v2, unmodified, with the fixtures for vitest.

import { intercept } from "locum";
import { createTest, test } from "locum/vitest";
import { TwitterApi } from "twitter-api-v2";
import { expect } from "vitest";

/** Tests can add fixtures of their own. */
const it = test.extend({
  client: async ({ locum }, use) => {
    const interception = intercept(locum);
    await use(new TwitterApi(locum.env.LOCUM_USER_TOKEN));
    interception.close();
  },
});

it.for([1, 2])("each test has a world of its own (%d)", async (_, { client, locum }) => {
  expect(await locum.journal.requests()).toEqual([]);
  expect((await client.v2.me()).data.id).toBe(locum.env.LOCUM_USER_ID);
  await locum.journal.expect("GET /2/users/me status=200 count=1");
});

it("fault reaches the client", async ({ client, locum }) => {
  await locum.faults.add("status", { status: 503, route: "GET /2/users/me" });
  await expect(client.v2.me()).rejects.toMatchObject({ code: 503 });
});

const empty = createTest({ source: "empty", seed: 42 });

empty("options choose the source of the worlds", ({ locum }) => {
  expect(locum.env).not.toHaveProperty("LOCUM_USER_TOKEN");
});
