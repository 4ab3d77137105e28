// Posts and reads with twitter-api-v2.

import assert from "node:assert/strict";

import { need } from "../node/packages.mjs";

const { TwitterApi } = need("twitter-api-v2");
const { env } = process;
const client = new TwitterApi({
  appKey: env.LOCUM_API_KEY,
  appSecret: env.LOCUM_API_SECRET,
  accessToken: env.LOCUM_ACCESS_TOKEN,
  accessSecret: env.LOCUM_ACCESS_TOKEN_SECRET,
});
assert.equal((await client.v2.me()).data.username, env.LOCUM_USERNAME);
const made = await client.v2.tweet(`Written by twitter-api-v2, ${process.hrtime.bigint()}`);
assert.equal((await client.v2.singleTweet(made.data.id)).data.id, made.data.id);
console.log("done");
