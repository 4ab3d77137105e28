// All groups of operations with Node's client libraries, unmodified except for the base URL.

import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import { after, before, test } from "node:test";

import { need } from "./packages.mjs";
import { Server } from "./server.mjs";

const { TwitterApi, EUploadMimeType } = need("twitter-api-v2");
const { Client, OAuth1, EventPaginator, UserPaginator, PostPaginator } = need("@xdevplatform/xdk");

const PUBLIC = ["api.x.com", "upload.x.com", "api.twitter.com", "upload.twitter.com"];
const POST_WORDS = {
  expansions: ["attachments.media_keys", "attachments.poll_ids", "author_id", "edit_history_post_ids", "entities.mentions.username", "geo.place_id", "in_reply_to_user_id", "referenced_posts"],
  postFields: ["attachments", "context_annotations", "conversation_id", "created_at", "edit_controls", "entities", "geo", "id", "lang", "media_metadata", "note_post", "possibly_sensitive", "public_metrics", "reply_settings", "source", "text", "withheld"],
  userFields: ["created_at", "description", "public_metrics", "protected", "verified", "verified_type", "username"],
  mediaFields: ["alt_text", "height", "media_key", "preview_image_url", "public_metrics", "type", "url", "variants", "width"],
  pollFields: ["duration_minutes", "end_datetime", "id", "options", "voting_status"],
  placeFields: ["country", "country_code", "full_name", "geo", "id", "name", "place_type"],
};
const PEOPLE_WORDS = { userFields: POST_WORDS.userFields, postFields: POST_WORDS.postFields, expansions: ["most_recent_post_id", "pinned_post_id"] };
const TWEET_WORDS = {
  expansions: ["attachments.media_keys", "attachments.poll_ids", "author_id", "edit_history_tweet_ids", "entities.mentions.username", "geo.place_id", "in_reply_to_user_id", "referenced_tweets.id", "referenced_tweets.id.author_id"],
  "tweet.fields": ["attachments", "author_id", "context_annotations", "conversation_id", "created_at", "edit_controls", "entities", "geo", "id", "in_reply_to_user_id", "lang", "possibly_sensitive", "public_metrics", "referenced_tweets", "reply_settings", "source", "text", "withheld"],
  "user.fields": ["created_at", "description", "entities", "pinned_tweet_id", "public_metrics", "protected", "username", "verified"],
  "media.fields": ["alt_text", "height", "media_key", "preview_image_url", "public_metrics", "type", "url", "variants", "width"],
  "poll.fields": ["duration_minutes", "end_datetime", "id", "options", "voting_status"],
  "place.fields": ["country", "country_code", "full_name", "geo", "id", "name", "place_type"],
};
const PERSON_WORDS = { "user.fields": TWEET_WORDS["user.fields"], expansions: ["pinned_tweet_id"] };

// One white pixel, and a GIF with two frames.
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC", "base64");
const frame = (shade) => Buffer.from(`21f904000a0000002c000000000100010000020 2${shade}0100`.replaceAll(" ", ""), "hex");
const GIF = Buffer.concat([Buffer.from("47494638396101000100800000000000ffffff", "hex"), frame("44"), frame("4c"), Buffer.from("3b", "hex")]);

const LONGEST = 60_000;
const here = {};

/** Redirects requests for the public service to the server. */
const { request } = https;
https.request = (options, ...more) => {
  assert.ok(PUBLIC.includes(options.host), options.host);
  const { protocol, hostname: host, port } = new URL(here.server.url);
  return http.request({ ...options, protocol, host, port, agent: undefined }, ...more);
};

function person(name) {
  const { server } = here;
  const { API_KEY: apiKey, API_SECRET: apiSecret } = server.env;
  const { id } = server.cli("user", "create", name, "--password", "a long password");
  const mint = ["token", "mint", "--app", apiKey, "--user", id];
  const signed = server.cli(...mint, "--oauth1");
  const { token } = server.cli(...mint);
  const [accessToken, accessTokenSecret] = [signed.access_token, signed.access_token_secret];
  const oauth1 = new OAuth1({ apiKey, apiSecret, callback: "oob", accessToken, accessTokenSecret });
  return {
    id,
    name,
    official: new Client({ accessToken: token, baseUrl: server.url }),
    officialSigned: new Client({ oauth1, baseUrl: server.url }),
    signed: new TwitterApi({ appKey: apiKey, appSecret: apiSecret, accessToken, accessSecret: accessTokenSecret }),
    bearing: new TwitterApi(token),
  };
}

before(async () => {
  here.server = await Server.start();
  const { BEARER_TOKEN: bearerToken } = here.server.env;
  here.app = new Client({ bearerToken, baseUrl: here.server.url });
  here.app2 = new TwitterApi(bearerToken).v2;
  here.people = ["one", "two", "three", "four", "five"].map((name) => person(`tour_${name}`));
}, { timeout: LONGEST });
after(async () => {
  await here.server?.close();
  Object.assign(https, { request });
  setTimeout(() => process.exit(), 2_000).unref();
}, { timeout: LONGEST });

const step = (name, act) => test(name, { timeout: LONGEST }, () => act(here));
const ids = (answer) => (answer.data ?? []).map(({ id }) => id);
const sorted = (list) => [...list].sort();

/** All pages of the official library's paginator. */
async function walk(kind, ask, size, least = 2) {
  let pages = 0;
  const all = new kind(async (paginationToken) => {
    const { data, meta, includes, errors } = await ask({ maxResults: size, paginationToken });
    pages += 1;
    return { data: data ?? [], meta, includes, errors };
  });
  const found = [];
  for await (const { id } of all) found.push(id);
  assert.ok(pages >= least, `${pages} pages`);
  assert.equal(new Set(found).size, found.length);
  return found;
}

/** All pages of twitter-api-v2's paginator. */
async function fetchAll(paginator) {
  const found = [];
  for await (const { id } of await paginator) found.push(id);
  assert.equal(new Set(found).size, found.length);
  return found;
}

const refused = (asked, status, text) => assert.rejects(asked, (error) => {
  assert.equal(error.status ?? error.code, status, error);
  assert.match((error.data ?? {}).detail ?? "", text);
  return true;
});

step("the official library: posts with every expansion and field", async ({ app, people: [ada, bob], server }) => {
  const say = (client, body) => client.posts.create(body).then(({ data }) => data.id);
  const root = await say(ada.official, { text: `Hello @${bob.name} #tour https://example.com/a`, poll: { options: ["yes", "no"], durationMinutes: 60 } });
  const reply = await say(bob.official, { text: "A reply", reply: { inReplyToTweetId: root } });
  const quote = await say(bob.officialSigned, { text: "A quote", quoteTweetId: root });
  server.cli("poll", "vote", root, "2", "--as", bob.name);
  for (const client of [app, ada.official, ada.officialSigned]) {
    const read = await client.posts.getByIds([root, reply, quote, "1"], POST_WORDS);
    assert.deepEqual(ids(read), [root, reply, quote]);
    assert.equal(read.errors[0].title, "Not Found Error");
    const [first, second, third] = read.data;
    assert.equal(first.publicMetrics.replyCount, 1);
    assert.equal(first.publicMetrics.repostCount, 0);
    assert.deepEqual(first.editHistoryPostIds, [root]);
    assert.equal(first.entities.mentions[0].id, bob.id);
    assert.deepEqual(second.referencedPosts, [{ type: "replied_to", id: root }]);
    assert.deepEqual(third.referencedPosts, [{ type: "quoted", id: root }]);
    assert.deepEqual(read.includes.polls[0].options.map(({ votes }) => votes), [0, 1]);
    assert.deepEqual(sorted(read.includes.users.map(({ id }) => id)), sorted([ada.id, bob.id]));
  }
  assert.deepEqual(ids(await app.posts.getQuoted(root, POST_WORDS)), [quote]);
  assert.equal((await ada.official.posts.hideReply(reply, { hidden: true })).data.hidden, true);
  await refused(bob.official.posts.delete(root), 403, /./);
  await refused(ada.official.posts.create({ text: "Hello twice" }).then(() => ada.official.posts.create({ text: "Hello twice" })), 403, /duplicate content/);
  assert.equal((await bob.officialSigned.posts.delete(quote)).data.deleted, true);
  assert.equal((await app.posts.getById(quote)).errors[0].title, "Not Found Error");
});

step("the official library: media", async ({ app, people: [ada] }) => {
  const { data: made } = await ada.official.media.upload({ media: PNG.toString("base64"), mediaCategory: "tweet_image" });
  await ada.official.media.createMetadata({ id: made.id, metadata: { altText: { text: "White" } } });
  const begin = { mediaType: "image/gif", mediaCategory: "tweet_gif", totalBytes: GIF.length };
  const { data: begun } = await ada.official.media.initializeUpload(begin);
  for (const [segmentIndex, part] of [GIF.subarray(0, 20), GIF.subarray(20)].entries()) {
    await ada.official.media.appendUpload(begun.id, { media: part.toString("base64"), segmentIndex });
  }
  let { data: ended } = await ada.official.media.finalizeUpload(begun.id);
  while (["pending", "in_progress"].includes(ended.processingInfo?.state)) ({ data: ended } = await ada.official.media.getUploadStatus(begun.id));
  for (const [id, type, altText] of [[made.id, "photo", "White"], [begun.id, "animated_gif", undefined]]) {
    const { data: post } = await ada.official.posts.create({ text: `With ${type}`, media: { mediaIds: [id] } });
    const read = await app.posts.getById(post.id, POST_WORDS);
    const [shown] = read.includes.media;
    assert.deepEqual([shown.type, shown.width, shown.altText], [type, 1, altText]);
    assert.deepEqual(read.data.attachments.mediaKeys, [shown.mediaKey]);
  }
  await refused(ada.official.media.upload({ media: "bm90aGluZw==", mediaCategory: "tweet_image" }), 400, /./);
});

step("the official library: timelines, likes, reposts and bookmarks", async ({ app, people }) => {
  const [, , ada, bob] = people;
  await ada.official.users.followUser(ada.id, { targetUserId: bob.id });
  const wanted = [];
  for (let number = 0; number < 12; number += 1) {
    const { data } = await bob.official.posts.create({ text: `@${ada.name} ${number}` });
    wanted.unshift(data.id);
  }
  const posts = (ask) => walk(PostPaginator, (page) => ask({ ...POST_WORDS, ...page }), 5, 3);
  assert.deepEqual(await posts((page) => app.users.getPosts(bob.id, page)), wanted);
  assert.deepEqual(await posts((page) => ada.officialSigned.users.getMentions(ada.id, page)), wanted);
  assert.deepEqual(await posts((page) => ada.official.users.getTimeline(ada.id, page)), wanted);
  const [post] = wanted;
  for (const { id, official } of people) {
    assert.equal((await official.users.likePost(id, { tweetId: post })).data.liked, true);
    if (id !== bob.id) assert.ok((await official.users.repostPost(id, { tweetId: post })).data.restId ?? true);
  }
  const everybody = people.map(({ id }) => id);
  const persons = (ask) => walk(UserPaginator, (page) => ask({ ...PEOPLE_WORDS, ...page }), 2).then(sorted);
  assert.deepEqual(await persons((page) => bob.official.posts.getLikingUsers(post, page)), sorted(everybody));
  assert.deepEqual(await persons((page) => app.posts.getRepostedBy(post, page)), sorted(everybody.filter((id) => id !== bob.id)));
  assert.deepEqual(ids(await ada.official.users.getLikedPosts(ada.id, POST_WORDS)), [post]);
  assert.equal((await ada.official.users.unlikePost(ada.id, post)).data.liked, false);
  await ada.official.users.unrepostPost(ada.id, post);
  const { data: { publicMetrics } } = await app.posts.getById(post, { postFields: ["public_metrics"] });
  assert.deepEqual([publicMetrics.likeCount, publicMetrics.repostCount], [4, 3]);
  const { data: folder } = await ada.official.users.createBookmarkFolder(ada.id, { name: "Later" });
  for (const tweetId of wanted.slice(0, 6).reverse()) await ada.official.users.createBookmark(ada.id, { tweetId });
  await ada.official.users.createBookmark(ada.id, { tweetId: post, folderId: folder.id });
  assert.deepEqual(ids(await ada.official.users.getBookmarkFolders(ada.id)), [folder.id]);
  assert.deepEqual(ids(await ada.official.users.getBookmarksByFolderId(ada.id, folder.id)), [post]);
  const kept = await walk(PostPaginator, (page) => ada.official.users.getBookmarks(ada.id, { ...POST_WORDS, ...page }), 4);
  assert.deepEqual(sorted(kept), sorted(wanted.slice(0, 6)));
  assert.equal((await ada.official.users.deleteBookmark(ada.id, post)).data.bookmarked, false);
  assert.ok(!ids(await ada.official.users.getBookmarks(ada.id, POST_WORDS)).includes(post));
});

step("the official library: people", async ({ app, people }) => {
  const [ada, bob] = people;
  const target = people[4];
  const read = await app.users.getByIds([ada.id, bob.id, "1"], PEOPLE_WORDS);
  assert.deepEqual(ids(read), [ada.id, bob.id]);
  assert.equal(read.errors[0].detail, "Could not find user with ids: [1].");
  assert.equal(typeof read.data[0].publicMetrics.postCount, "number");
  assert.deepEqual(ids(await app.users.getByUsernames([bob.name], PEOPLE_WORDS)), [bob.id]);
  assert.equal((await ada.officialSigned.users.getMe(PEOPLE_WORDS)).data.id, ada.id);
  const others = people.slice(0, 4);
  for (const { id, official } of others) {
    const { data } = await official.users.followUser(id, { targetUserId: target.id });
    assert.deepEqual([data.following, data.pendingFollow], [true, false]);
  }
  const found = await walk(UserPaginator, (page) => app.users.getFollowers(target.id, { ...PEOPLE_WORDS, ...page }), 2);
  assert.deepEqual(found, others.map(({ id }) => id).reverse());
  assert.equal((await ada.official.users.unfollowUser(ada.id, target.id)).data.following, false);
  assert.deepEqual(ids(await app.users.getFollowing(ada.id, PEOPLE_WORDS)), []);
  assert.equal((await ada.official.users.muteUser(ada.id, { targetUserId: bob.id })).data.muting, true);
  assert.deepEqual(ids(await ada.officialSigned.users.getMuting(ada.id, PEOPLE_WORDS)), [bob.id]);
  assert.equal((await ada.official.users.unmuteUser(ada.id, bob.id)).data.muting, false);
  assert.deepEqual(ids(await ada.official.users.getMuting(ada.id)), []);
  await refused(ada.official.users.followUser(ada.id, { targetUserId: ada.id }), 403, /cannot follow yourself/);
});

step("the official library: lists, spaces and communities", async ({ app, people, server }) => {
  const [ada, bob] = people;
  const { data: { id } } = await ada.official.lists.create({ name: "Gardeners" });
  assert.equal((await ada.officialSigned.lists.update(id, { name: "Diggers" })).data.updated, true);
  const others = people.slice(1);
  for (const other of others) {
    assert.equal((await ada.official.lists.addMember(id, { userId: other.id })).data.isMember, true);
    assert.equal((await other.official.users.followList(other.id, { listId: id })).data.following, true);
  }
  const persons = (ask) => walk(UserPaginator, (page) => ask({ ...PEOPLE_WORDS, ...page }), 2).then(sorted);
  assert.deepEqual(await persons((page) => app.lists.getMembers(id, page)), sorted(others.map((one) => one.id)));
  assert.deepEqual(await persons((page) => app.lists.getFollowers(id, page)), sorted(others.map((one) => one.id)));
  assert.equal((await ada.official.lists.removeMemberByUserId(id, bob.id)).data.isMember, false);
  const { data: list } = await app.lists.getById(id, { listFields: ["name", "member_count", "follower_count", "owner_id"], expansions: ["owner_id"] });
  assert.deepEqual([list.name, list.memberCount, list.followerCount, list.ownerId], ["Diggers", 3, 4, ada.id]);
  await ada.official.users.pinList(ada.id, { listId: id });
  assert.deepEqual(ids(await ada.official.users.getPinnedLists(ada.id)), [id]);
  assert.equal((await ada.official.users.unpinList(ada.id, id)).data.pinned, false);
  assert.equal((await ada.official.lists.delete(id)).data.deleted, true);
  assert.equal((await app.lists.getById(id)).errors[0].title, "Not Found Error");

  const space = server.cli("space", "create", ada.name, "--title", "About tours", "--invite", bob.name, "--topic", "Travel");
  const words = { spaceFields: ["state", "title", "creator_id", "invited_user_ids"], expansions: ["creator_id", "invited_user_ids", "topic_ids"], topicFields: ["name"] };
  const read = await app.spaces.getById(space.id, words);
  assert.deepEqual([read.data.state, read.data.title, read.data.creatorId], ["live", "About tours", ada.id]);
  assert.equal(read.includes.topics[0].name, "Travel");
  assert.deepEqual(ids(await app.spaces.getByCreatorIds([ada.id], words)), [space.id]);
  assert.deepEqual(ids(await app.spaces.search("tours", { state: "live" })), [space.id]);

  const community = server.cli("community", "create", "Tourists", "--owner", ada.id);
  assert.equal((await app.communities.getById(community.id, { communityFields: ["name", "member_count"] })).data.memberCount, 1);
  assert.deepEqual(ids(await ada.official.communities.search("Tourists")), [community.id]);
  await refused(bob.official.posts.create({ text: "From outside", communityId: community.id }), 403, /not allowed/);
});

step("twitter-api-v2: posts, polls and media", async ({ app2, people: [ada, bob], server }) => {
  const media = [
    await ada.signed.v1.uploadMedia(PNG, { mimeType: EUploadMimeType.Png }),
    await ada.bearing.v2.uploadMedia(PNG, { media_type: EUploadMimeType.Png, media_category: "tweet_image" }),
  ];
  await ada.signed.v1.createMediaMetadata(media[0], { alt_text: { text: "White" } });
  await ada.bearing.v2.createMediaMetadata(media[1], { alt_text: { text: "White as well" } });
  const { data: pictures } = await ada.signed.v2.tweet("Two pictures", { media: { media_ids: media } });
  const shown = await app2.singleTweet(pictures.id, TWEET_WORDS);
  assert.deepEqual(shown.includes.media.map(({ alt_text }) => alt_text), ["White", "White as well"]);
  const { data: root } = await ada.signed.v2.tweet(`Choose, @${bob.name}`, { poll: { options: ["a", "b"], duration_minutes: 30 } });
  server.cli("poll", "vote", root.id, "1", "--as", bob.name);
  const { data: reply } = await bob.bearing.v2.reply("A reply", root.id);
  const { data: quote } = await bob.signed.v2.quote("A quote of it", root.id);
  for (const client of [app2, ada.signed.v2, ada.bearing.v2]) {
    const read = await client.tweets([root.id, reply.id, quote.id], TWEET_WORDS);
    assert.deepEqual(ids(read), [root.id, reply.id, quote.id]);
    assert.deepEqual(read.data[1].referenced_tweets, [{ type: "replied_to", id: root.id }]);
    assert.equal(read.data[0].public_metrics.quote_count, 1);
    assert.equal(read.includes.polls[0].options[0].votes, 1);
    assert.ok(read.includes.tweets.some(({ id }) => id === root.id));
  }
  assert.equal((await ada.signed.v2.hideReply(reply.id, true)).data.hidden, true);
  const thread = await ada.signed.v2.tweetThread(["First of a thread", "Second", "Third"]);
  const { data: last } = await app2.singleTweet(thread[2].data.id, TWEET_WORDS);
  assert.equal(last.conversation_id, thread[0].data.id);
  await refused(ada.signed.v2.tweet("First of a thread"), 403, /duplicate content/);
  await refused(app2.tweet("Nobody"), 403, /Application-Only/);
  assert.equal((await ada.signed.v2.deleteTweet(root.id)).data.deleted, true);
});

step("twitter-api-v2: people, timelines, likes, lists", async ({ app2, people }) => {
  const [ada, bob] = [person("tour_ada"), person("tour_bob")];
  const signed = ada.signed.v2;
  assert.equal((await signed.me(PERSON_WORDS)).data.id, ada.id);
  assert.deepEqual((await signed.follow(ada.id, bob.id)).data, { following: true, pending_follow: false });
  const wanted = [];
  for (let number = 0; number < 12; number += 1) wanted.unshift((await bob.signed.v2.tweet(`@${ada.name} ${number}`)).data.id);
  const page = { ...TWEET_WORDS, max_results: 5 };
  assert.deepEqual(await fetchAll(app2.userTimeline(bob.id, page)), wanted);
  assert.deepEqual(await fetchAll(signed.userMentionTimeline(ada.id, page)), wanted);
  assert.deepEqual(await fetchAll(signed.homeTimeline(page)), wanted);
  for (const one of people) {
    assert.equal((await one.signed.v2.like(one.id, wanted[0])).data.liked, true);
    assert.equal((await one.bearing.v2.retweet(one.id, wanted[0])).data.retweeted, true);
    await one.signed.v2.follow(one.id, bob.id);
  }
  const everybody = sorted(people.map(({ id }) => id));
  const two = { ...PERSON_WORDS, max_results: 2, asPaginator: true };
  assert.deepEqual(sorted(await fetchAll(bob.signed.v2.tweetLikedBy(wanted[0], two))), everybody);
  assert.deepEqual(sorted(await fetchAll(app2.tweetRetweetedBy(wanted[0], two))), everybody);
  assert.deepEqual(sorted(await fetchAll(app2.followers(bob.id, two))), sorted([...everybody, ada.id]));
  for (const id of wanted.slice(0, 6).reverse()) await ada.bearing.v2.bookmark(id);
  assert.deepEqual(await fetchAll(ada.bearing.v2.bookmarks(page)), wanted.slice(0, 6));
  assert.equal((await signed.block(ada.id, people[0].id)).data.blocking, true);
  assert.deepEqual(await fetchAll(signed.userBlockingUsers(ada.id, PERSON_WORDS)), [people[0].id]);
  assert.equal((await signed.unblock(ada.id, people[0].id)).data.blocking, false);
  assert.equal((await signed.mute(ada.id, bob.id)).data.muting, true);
  assert.deepEqual(await fetchAll(signed.userMutingUsers(ada.id, PERSON_WORDS)), [bob.id]);
  assert.equal((await signed.unmute(ada.id, bob.id)).data.muting, false);

  const { data: list } = await signed.createList({ name: "A tour", private: false });
  for (const one of people) {
    await signed.addListMember(list.id, one.id);
    await one.signed.v2.subscribeToList(one.id, list.id);
  }
  assert.deepEqual(sorted(await fetchAll(app2.listMembers(list.id, { max_results: 2 }))), everybody);
  assert.deepEqual(sorted(await fetchAll(app2.listFollowers(list.id, { max_results: 2 }))), everybody);
  await signed.pinList(ada.id, list.id);
  await signed.unpinList(ada.id, list.id);
  assert.equal((await app2.list(list.id, { "list.fields": ["member_count"] })).data.member_count, people.length);
  assert.equal((await signed.removeList(list.id)).data.deleted, true);
  await refused(signed.follow(ada.id, ada.id), 403, /cannot follow yourself/);
});

const MESSAGE_WORDS = {
  dmEventFields: ["attachments", "created_at", "dm_conversation_id", "entities", "event_type", "id", "text"],
  expansions: ["attachments.media_keys", "participant_ids", "referenced_posts", "sender_id"],
  userFields: POST_WORDS.userFields,
  mediaFields: POST_WORDS.mediaFields,
};
const EVENT_WORDS = {
  "dm_event.fields": ["attachments", "created_at", "dm_conversation_id", "event_type", "id", "participant_ids", "sender_id", "text"],
  expansions: ["attachments.media_keys", "participant_ids", "referenced_tweets.id", "sender_id"],
  "media.fields": TWEET_WORDS["media.fields"],
};
const CLAIM = "The photo was taken in 2019. https://example.com/archive";
const WEATHER = "The weather in the city was very warm and dry this whole summer";

/** A time range from yesterday until soon, for metrics. */
function span() {
  const at = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString().replace(/\.\d+/, "");
  return [at(-24), at(1)];
}

/** The path segments of a message's media URL. */
const placeOf = (url) => new URL(url).pathname.split("/dm_conversations/media/")[1].split("/");

step("the official library: direct messages", async () => {
  const [ada, bob, cid] = ["message_ada", "message_bob", "message_cid"].map(person);
  const of = ({ official }) => official.directMessages;
  const said = [];
  let name;
  for (let number = 0; number < 3; number += 1) {
    const { data: ping } = await ada.officialSigned.directMessages.createByParticipantId(bob.id, { text: `Ping ${number}` });
    name = ping.dmConversationId;
    const { data: pong } = await of(bob).createByConversationId(name, { text: `Pong ${number}` });
    said.unshift(pong.dmEventId, ping.dmEventId);
  }
  const lists = [[of(ada), bob], [ada.officialSigned.directMessages, bob], [of(bob), ada]];
  const walked = (ask) => walk(EventPaginator, (page) => ask({ ...MESSAGE_WORDS, ...page }), 2, 3);
  for (const [client, other] of lists) {
    assert.deepEqual(await walked((page) => client.getEvents(page)), said);
    assert.deepEqual(await walked((page) => client.getEventsByParticipantId(other.id, page)), said);
    assert.deepEqual(await walked((page) => client.getEventsByConversationId(name, page)), said);
  }
  const { data: newest } = await of(ada).getEventsById(said[0], MESSAGE_WORDS);
  assert.deepEqual([newest.eventType, newest.text, newest.senderId, newest.dmConversationId], ["MessageCreate", "Pong 2", bob.id, name]);
  assert.equal((await of(ada).deleteEvents(said[0])).data.deleted, true);
  assert.deepEqual(ids(await of(ada).getEvents(MESSAGE_WORDS)), said.slice(1));
  assert.deepEqual(ids(await of(bob).getEvents(MESSAGE_WORDS)), said);
  await refused(of(cid).createByConversationId(name, { text: "May I?" }), 404, /./);

  const group = { conversationType: "Group", participantIds: [bob.id, cid.id], message: { text: "Hello all" } };
  const { data: begun } = await of(ada).createConversation(group);
  const { data: answer } = await of(cid).createByConversationId(begun.dmConversationId, { text: "Hello" });
  for (const one of [ada, bob, cid]) {
    const { data: events } = await of(one).getEventsByConversationId(begun.dmConversationId, MESSAGE_WORDS);
    assert.deepEqual(events.slice(0, 2).map(({ id }) => id), [answer.dmEventId, begun.dmEventId]);
    assert.equal(events[2].eventType, "ParticipantsJoin");
    const joined = await of(one).getEvents({ eventTypes: ["ParticipantsJoin"] });
    assert.deepEqual(ids(joined), [events[2].id]);
  }

  const { data: made } = await ada.official.media.upload({ media: PNG.toString("base64"), mediaCategory: "dm_image" });
  const { data: sent } = await of(ada).createByParticipantId(cid.id, { attachments: [{ mediaId: made.id }] });
  const read = await of(cid).getEventsById(sent.dmEventId, MESSAGE_WORDS);
  assert.deepEqual(read.data.attachments.mediaKeys, [made.mediaKey]);
  const where = placeOf(read.includes.media[0].url);
  assert.deepEqual(Buffer.from(await of(cid).dmConversationsMediaDownload(...where)), PNG);
  await assert.rejects(of(bob).dmConversationsMediaDownload(...where), ({ status }) => status === 404);
});

step("the official library: notes, news, trends and figures", async ({ app, server }) => {
  const [ada, bob, cid] = ["told_ada", "told_bob", "told_cid"].map(person);
  const say = (one, text) => one.official.posts.create({ text }).then(({ data }) => data.id);
  const [first, second] = [await say(bob, `${WEATHER}, one`), await say(bob, `${WEATHER}, two`)];
  const { communityNotes: notes } = ada.official;
  const draft = (postId) => ({ postId, testMode: true, info: { text: CLAIM, classification: "misinformed_or_potentially_misleading", misleadingTags: ["outdated_information"], trustworthySources: true } });
  await refused(notes.create(draft(first)), 403, /must be an API Note Writer/);
  server.cli("user", "note-writer", "on", ada.name);
  const eligible = async () => ids(await notes.searchEligiblePosts(true, { maxResults: 100, postFields: POST_WORDS.postFields })).filter((id) => id === first || id === second);
  assert.deepEqual(sorted(await eligible()), sorted([first, second]));
  assert.ok((await notes.evaluate({ postId: first, noteText: CLAIM })).data.claimOpinionScore > 0.7);
  const { data: one } = await notes.create(draft(first));
  const { data: two } = await ada.officialSigned.communityNotes.create(draft(second));
  assert.deepEqual(await eligible(), []);
  const fields = { noteFields: ["id", "info", "scoring_status", "status", "test_result"] };
  assert.deepEqual(await walk(PostPaginator, (page) => notes.searchWritten(true, { ...fields, ...page }), 1), [two.id, one.id]);
  const { data: [shown] } = await notes.searchWritten(true, fields);
  assert.deepEqual([shown.info.postId, shown.info.text, shown.status], [second, CLAIM, "needs_your_help"]);
  assert.deepEqual(ids(await notes.searchWritten(false)), []);
  assert.equal((await notes.delete(one.id)).data.deleted, true);
  assert.deepEqual(ids(await notes.searchWritten(true)), [two.id]);

  const { id: story } = server.cli("news", "create", "Official tourists arrive", "--summary", "All of them", "--post", first, "--draft");
  const newsFields = ["category", "cluster_posts_results", "contexts", "hook", "id", "keywords", "name", "summary", "updated_at"];
  const found = async () => ids(await app.news.search("official", { newsFields }));
  assert.deepEqual(await found(), []);
  server.cli("news", "publish", story);
  assert.deepEqual(await found(), [story]);
  const { data: told } = await ada.officialSigned.news.get(story, { newsFields });
  assert.deepEqual([told.name, told.summary, told.clusterPostsResults], ["Official tourists arrive", "All of them", [{ postId: first }]]);

  await ada.official.users.followUser(ada.id, { targetUserId: bob.id });
  for (const who of [ada, bob, cid]) await say(who, "Everybody says so #OfficialTrend");
  server.cli("news", "refresh");
  const { data: world } = await app.trends.getByWoeid(1, { maxTrends: 50, trendFields: ["trend_name", "tweet_count"] });
  assert.equal(world.find(({ trendName }) => trendName === "#OfficialTrend").tweetCount, 3);
  const { data: own } = await ada.official.trends.getPersonalized({ personalizedTrendFields: ["trend_name", "post_count"] });
  assert.equal(own.find(({ trendName }) => trendName === "#OfficialTrend").postCount, "3 posts");

  const used = async () => {
    const { data } = await app.usage.get({ days: 3, usageFields: ["daily_project_usage", "daily_client_app_usage", "project_usage"] });
    assert.equal(data.dailyProjectUsage.usage.length, 3);
    return Number(data.projectUsage);
  };
  const unread = await say(cid, "Read and counted");
  const before = await used();
  for (const client of [app, app, ada.official]) assert.equal((await client.posts.getById(unread)).data.id, unread);
  assert.equal(await used(), before + 1);

  for (const { id } of [bob, cid]) server.cli("user", "affiliate", id, ada.name, "--description", "A tour");
  const affiliates = await walk(UserPaginator, (page) => app.users.getAffiliates(ada.id, { userFields: ["affiliation", "username"], ...page }), 1);
  assert.deepEqual(affiliates, [cid.id, bob.id]);
  server.cli("user", "unaffiliate", bob.id);
  assert.deepEqual(ids(await app.users.getAffiliates(ada.id)), [cid.id]);

  await ada.official.users.likePost(ada.id, { tweetId: unread });
  const asked = { granularity: "daily", analyticsFields: ["likes", "retweets", "timestamped_metrics"] };
  const { data: [figures], errors } = await cid.official.posts.getAnalytics([unread, first], ...span(), asked);
  assert.deepEqual([figures.id, figures.likes, figures.retweets], [unread, 1, 0]);
  assert.equal(figures.timestampedMetrics.reduce((sum, { metrics }) => sum + metrics.likes, 0), 1);
  assert.deepEqual(errors.map(({ title }) => title), ["Authorization Error"]);
});

step("twitter-api-v2: direct messages", async () => {
  const [ada, bob, cid] = ["dm_ada", "dm_bob", "dm_cid"].map(person);
  const said = [];
  let name;
  for (let number = 0; number < 3; number += 1) {
    const { data: ping } = await ada.signed.v2.sendDmToParticipant(bob.id, { text: `Ping ${number}` });
    name = ping.dm_conversation_id;
    const { data: pong } = await bob.bearing.v2.sendDmInConversation(name, { text: `Pong ${number}` });
    said.unshift(pong.dm_event_id, ping.dm_event_id);
  }
  const two = { ...EVENT_WORDS, max_results: 2 };
  for (const [{ v2 }, other] of [[ada.signed, bob], [ada.bearing, bob], [bob.signed, ada]]) {
    assert.deepEqual(await fetchAll(v2.listDmEvents(two)), said);
    assert.deepEqual(await fetchAll(v2.listDmEventsWithParticipant(other.id, two)), said);
    assert.deepEqual(await fetchAll(v2.listDmEventsOfConversation(name, two)), said);
  }
  // The client has no method to remove one.
  assert.deepEqual(await ada.signed.v2.delete(`dm_events/${said[0]}`), { data: { deleted: true } });
  assert.deepEqual(await fetchAll(ada.signed.v2.listDmEvents(EVENT_WORDS)), said.slice(1));
  assert.deepEqual(await fetchAll(bob.signed.v2.listDmEvents(EVENT_WORDS)), said);
  await refused(cid.signed.v2.sendDmInConversation(name, { text: "May I?" }), 404, /./);

  const group = { conversation_type: "Group", participant_ids: [bob.id, cid.id], message: { text: "Hello all" } };
  const { data: begun } = await ada.signed.v2.createDmConversation(group);
  const { dm_conversation_id: id, dm_event_id: hello } = begun;
  for (const { signed } of [ada, bob, cid]) {
    const { events } = await signed.v2.listDmEventsOfConversation(id, EVENT_WORDS);
    assert.deepEqual(events.map(({ event_type }) => event_type), ["MessageCreate", "ParticipantsJoin"]);
    assert.equal(events[0].id, hello);
    assert.deepEqual(sorted(events[1].participant_ids), sorted([ada.id, bob.id, cid.id]));
  }

  const media = await ada.signed.v1.uploadMedia(PNG, { mimeType: EUploadMimeType.Png, target: "dm" });
  await ada.signed.v2.sendDmToParticipant(cid.id, { attachments: [{ media_id: media }] });
  const read = await cid.signed.v2.listDmEventsWithParticipant(ada.id, EVENT_WORDS);
  const [shown] = read.includes.media;
  assert.deepEqual(read.events[0].attachments.media_keys, [shown.media_key]);
  const bytes = (one) => one.bearing.v2.get(`dm_conversations/media/${placeOf(shown.url).join("/")}`, {}, { forceParseMode: "buffer" });
  assert.deepEqual(await bytes(cid), PNG);
  await assert.rejects(bytes(bob), ({ code }) => code === 404);
});

step("twitter-api-v2: notes, news, trends and figures by its own signed requests", async ({ app2, server }) => {
  const [ada, bob, cid] = ["asked_ada", "asked_bob", "asked_cid"].map(person);
  const say = (one, text) => one.signed.v2.tweet(text).then(({ data }) => data.id);
  const { v2: signed } = ada.signed;
  const post = await say(bob, `${WEATHER}, three`);
  const draft = { post_id: post, test_mode: true, info: { text: CLAIM, classification: "misinformed_or_potentially_misleading", misleading_tags: ["outdated_information"], trustworthy_sources: true } };
  await refused(signed.post("notes", draft), 403, /must be an API Note Writer/);
  server.cli("user", "note-writer", "on", ada.name);
  const eligible = async () => ids(await signed.get("notes/search/posts_eligible_for_notes", { test_mode: true, max_results: 100 })).includes(post);
  assert.equal(await eligible(), true);
  assert.ok((await signed.post("notes/evaluate", { post_id: post, note_text: CLAIM })).data.claim_opinion_score > 0.7);
  const { data: note } = await signed.post("notes", draft);
  assert.equal(await eligible(), false);
  const written = () => ada.bearing.v2.get("notes/search/notes_written", { test_mode: true, "note.fields": "info" });
  assert.deepEqual((await written()).data.map(({ id, info }) => [id, info.post_id]), [[note.id, post]]);
  assert.equal((await signed.delete(`notes/${note.id}`)).data.deleted, true);
  assert.deepEqual(ids(await written()), []);

  const { id: story } = server.cli("news", "create", "Asked tourists arrive", "--post", post);
  assert.deepEqual(ids(await app2.get("news/search", { query: "asked" })), [story]);
  assert.deepEqual((await signed.get(`news/${story}`, { "news.fields": "name,cluster_posts_results" })).data.cluster_posts_results, [{ post_id: post }]);

  await signed.follow(ada.id, bob.id);
  for (const one of [ada, bob, cid]) await say(one, "Everybody says so #AskedTrend");
  server.cli("news", "refresh");
  const { data: world } = await app2.get("trends/by/woeid/1", { max_trends: 50 });
  assert.equal(world.find(({ trend_name }) => trend_name === "#AskedTrend").tweet_count, 3);
  const { data: own } = await signed.get("users/personalized_trends");
  assert.equal(own.find(({ trend_name }) => trend_name === "#AskedTrend").post_count, "3 posts");
  await refused(app2.get("trends/by/woeid/44418"), 404, /Could not find trends for WOEID: 44418/);

  const unread = await say(cid, "Read and counted, too");
  const used = async () => Number((await app2.usage({ days: 3 })).data.project_usage);
  const before = await used();
  for (const client of [app2, app2, signed]) assert.equal((await client.singleTweet(unread)).data.id, unread);
  assert.equal(await used(), before + 1);

  for (const { id } of [bob, cid]) server.cli("user", "affiliate", id, ada.name);
  const { data, meta } = await app2.get(`users/${ada.id}/affiliates`, { max_results: 1 });
  const rest = await app2.get(`users/${ada.id}/affiliates`, { max_results: 1, pagination_token: meta.next_token });
  assert.deepEqual(ids({ data: [...data, ...rest.data] }), [cid.id, bob.id]);

  await signed.like(ada.id, unread);
  const [start_time, end_time] = span();
  const { data: [figures], errors } = await cid.signed.v2.get("tweets/analytics", { ids: [unread, post], start_time, end_time, granularity: "daily" });
  assert.deepEqual([figures.id, figures.likes, figures.retweets], [unread, 1, 0]);
  assert.deepEqual(errors.map(({ title }) => title), ["Authorization Error"]);
});
