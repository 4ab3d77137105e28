// twitter-api-v2, unmodified, with Jest as it is without configuration.

const { intercept } = require("locum");
const { useLocum } = require("locum/jest");
const { TwitterApi } = require("twitter-api-v2");

const locum = useLocum({ source: "demo" });
let interception;
beforeEach(() => (interception = intercept(locum.world)));
afterEach(() => interception.close());

test.each([1, 2])("each test has a world of its own (%d)", async () => {
  const { env, journal } = locum.world;
  expect(await journal.requests()).toEqual([]);
  const { data } = await new TwitterApi(env.LOCUM_USER_TOKEN).v2.me();
  expect(data.id).toBe(env.LOCUM_USER_ID);
  await journal.expect(["GET /2/users/me status=200 count=1"]);
});

test("fault reaches the client", async () => {
  const { env, faults } = locum.world;
  await faults.add("status", { status: 503, route: "GET /2/users/me" });
  await expect(new TwitterApi(env.LOCUM_USER_TOKEN).v2.me()).rejects.toMatchObject({ code: 503 });
});

test("fake timers of Jest do not stop the testing tools", async () => {
  jest.useFakeTimers();
  try {
    expect(await locum.world.clock.advance("1d")).toMatchObject({ notes: [] });
  } finally {
    jest.useRealTimers();
  }
});
