// The pages of members and moderators: on phone and desktop sizes, light and dark, with and without JavaScript; and what
// people do there. LOCUM_SCREENSHOTS names a directory for screenshots.

import assert from "node:assert/strict";

import { DESK, PHONE, drawPicture, inspectAtEachSize, isInert } from "./inspect.mjs";
import { people, world } from "./suite.mjs";

const here = world();

/** A PNG file of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Inspects the open page. */
async function look(person, name) {
  await isInert(person);
  await inspectAtEachSize(person, `members-${name}`);
}

/** The first post of the page that contains the text. */
const post = (person, text) => person.page.locator("article").filter({ hasText: text }).first();

people(here, "every page of a member looks right", async (person) => {
  const ada = await person();
  await ada.open("/login?next=/home");
  await ada.signIn();
  for (const [path, name] of [
    ["/home", "home"],
    ["/ada", "own-profile"],
    ["/bob", "profile"],
    ["/bob/followers", "followers"],
    ["/search", "search-start"],
    ["/search?q=harbour", "search"],
    ["/search?q=b&f=people", "search-people"],
    ["/search?q=(", "search-wrong"],
    ["/compose", "compose"],
    ["/bookmarks", "bookmarks"],
    ["/settings/moderation", "decisions"],
    ["/about", "about"],
    ["/nobody_has_this", "nobody"],
  ]) {
    await ada.open(path);
    await look(ada, name);
  }
  await ada.open("/bookmarks");
  await ada.page.getByRole("link", { name: "Read later" }).first().click();
  await ada.page.waitForURL("**/bookmarks/*");
  await look(ada, "bookmark-folder");
  await ada.open("/bob");
  await ada.page.locator("article a[href*='/status/']").first().click();
  await ada.page.waitForURL("**/status/*");
  await look(ada, "thread");
  const visitor = await person();
  await visitor.open("/bob");
  await look(visitor, "profile-signed-out");
});

people(here, "every page of notifications looks right", async (person) => {
  const ada = await person();
  await ada.open("/login?next=/home");
  await ada.signIn();
  for (const [path, name] of [
    ["/notifications", "notifications"],
    ["/notifications?tab=mentions", "mentions"],
    ["/notifications?tab=notices", "notices"],
    ["/notifications/requests", "follow-requests"],
    ["/settings/notifications", "notification-settings"],
  ]) {
    await ada.open(path);
    await look(ada, name);
  }
});

people(here, "every page of messages, lists and the settings of a profile looks right", async (person) => {
  const ada = await person();
  await ada.open("/login?next=/messages");
  await ada.signIn();
  for (const [path, name] of [
    ["/messages", "messages"],
    ["/messages/new", "new-message"],
    ["/lists", "lists"],
    ["/lists?tab=followed", "lists-followed"],
    ["/communities", "communities"],
    ["/communities?tab=newest", "communities-newest"],
    ["/communities?q=nothing+has+this+name", "communities-not-found"],
    ["/lists/new", "new-list"],
    ["/bob/lists", "add-to-list"],
    ["/settings/profile", "edit-profile"],
  ]) {
    await ada.open(path);
    await look(ada, name);
  }
  await ada.open("/messages");
  await ada.page.locator("a.entry").first().click();
  await ada.page.waitForURL("**/messages/*");
  await look(ada, "conversation");
});

people(here, "drafts, scheduled posts, muted words and the safety of an account look right", async (person) => {
  const lena = await person();
  await lena.become("lena");
  for (const [path, name] of [
    ["/compose/drafts", "drafts-empty"],
    ["/compose/scheduled", "scheduled-empty"],
    ["/settings/muted_words", "muted-words-empty"],
    ["/settings/security", "security"],
    ["/settings/data", "own-data"],
  ]) {
    await lena.open(path);
    await look(lena, name);
  }
  await lena.open("/settings/muted_words");
  await lena.fill({ "Word, phrase or hashtag": "fog horn" });
  await lena.press("Mute");
  await look(lena, "muted-words");
  await lena.open("/compose");
  await lena.fill({ Text: "Not finished yet" });
  await lena.press("Save draft");
  await look(lena, "drafts");
  await lena.open("/compose");
  await lena.fill({ Text: "Good morning from the harbour" });
  await lena.page.getByText("Publish later").click();
  await lena.page.getByLabel("Date and time in UTC").fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 16));
  await lena.press("Schedule");
  assert.equal(lena.path(), "/compose/scheduled");
  await look(lena, "scheduled");
});

people(here, "an open home timeline says that there are new posts", async (person) => {
  const [greta, nils] = [await person(), await person({ javaScriptEnabled: false })];
  await greta.become("greta");
  await nils.become("nils");
  await greta.open("/nils");
  await greta.press("Follow");
  await greta.open("/home");
  await nils.open("/home");
  await nils.page.locator("textarea").first().fill("The ferry is late");
  await nils.press("Post");
  await greta.page.getByRole("link", { name: "Show 1 new post" }).click();
  await post(greta, "The ferry is late").waitFor();
});

people(here, "a member writes, is answered and liked, without JavaScript", async (person) => {
  const settings = { javaScriptEnabled: false };
  const [olive, pia] = [await person(settings), await person(settings)];
  await olive.become("olive");
  await pia.become("pia");
  await olive.open("/home");
  assert.match(await olive.text(), /Your timeline is empty/);
  await olive.page.locator("textarea").first().fill("The harbour at six in the morning");
  await olive.press("Post");
  assert.match(await olive.text(), /at six in the morning/);
  await pia.open("/olive");
  await pia.press("Follow");
  assert.ok(await pia.page.getByRole("button", { name: "Unfollow", exact: true }).count());
  await pia.open("/home");
  await pia.press(/^Like/, post(pia, "at six in the morning"));
  await post(pia, "at six in the morning").locator("a[href*='/status/']").first().click();
  await pia.page.waitForURL("**/status/*");
  await pia.page.locator("textarea").first().fill("And at seven?");
  await pia.press("Reply");
  await pia.open("/olive");
  await post(pia, "at six in the morning").locator("a[href*='/status/']").first().click();
  await pia.page.waitForURL("**/status/*");
  assert.match(await pia.text(), /And at seven\?/);
});

/** Sends the form of a new message. */
async function write(person, to, text) {
  await person.open("/messages/new");
  await person.fill({ To: to, "Your message": text });
  await person.press("Send");
}

people(here, "members write to each other and in groups, without JavaScript", async (person) => {
  const settings = { javaScriptEnabled: false };
  const [sara, theo, uma] = [await person(settings), await person(settings), await person()];
  await sara.become("sara");
  await theo.become("theo");
  await uma.become("uma");
  await sara.open("/theo");
  await sara.follow("Message");
  await sara.fill({ "Your message": "Is the harbour open?" });
  await sara.press("Send");
  const conversation = sara.path();
  await theo.open("/messages");
  assert.match(await theo.text(), /1\s+unread/);
  await theo.page.getByRole("link", { name: /Is the harbour open/ }).click();
  await theo.page.waitForURL("**/messages/*");
  await theo.fill({ "Your message": "Until nine. After that, boats wait outside, and nobody opens before six in the morning." });
  await theo.press("Send");
  await sara.open("/messages");
  assert.match(await sara.text(), /Until nine/);
  await sara.open(conversation);
  await sara.press("Delete for you", sara.page.locator(".messages > .own"));
  assert.doesNotMatch(await sara.text(), /Is the harbour open/);
  await theo.open(conversation);
  assert.match(await theo.text(), /Is the harbour open/);
  await uma.open(conversation);
  assert.equal(await uma.heading(), "Page not found");
  await write(uma, "sara, theo", "Boats at six");
  await look(uma, "group");
  await write(sara, "uma", "Bring a lamp");
  await uma.open("/messages");
  assert.match(await uma.text(), /1\s+unread/);
  await look(uma, "conversations");
  here.server.cli("message", "close", "theo");
  await write(uma, "sara, theo", "Boats at seven");
  assert.match(await uma.text(), /@theo does not accept messages from you/);
  await look(uma, "new-message-refused");
  await uma.open("/theo");
  assert.equal(await uma.page.getByRole("link", { name: "Message", exact: true }).count(), 0);
});

people(here, "an open conversation shows new messages beside what is being written", async (person) => {
  const [hedda, ivar] = [await person(), await person({ javaScriptEnabled: false })];
  await hedda.become("hedda");
  await ivar.become("ivar");
  await hedda.open("/ivar");
  await hedda.follow("Message");
  await hedda.fill({ "Your message": "Who takes the first watch?" });
  await hedda.press("Send");
  await ivar.open("/messages");
  await ivar.page.locator("a.entry").first().click();
  await ivar.page.waitForURL("**/messages/*");
  await hedda.page.setViewportSize(PHONE);
  const field = hedda.page.getByLabel("Your message");
  await field.fill("If nobody else wants it, I ");
  for (const text of ["I do", ...Array.from({ length: 8 }, (_, number) => `Watch ${number} is long`), "Until midnight"]) {
    await ivar.fill({ "Your message": text });
    await ivar.press("Send");
    await hedda.page.locator(".messages .bubble").filter({ hasText: text }).waitFor();
  }
  assert.equal(await hedda.page.locator(".messages > li").count(), 11);
  assert.equal(await field.inputValue(), "If nobody else wants it, I ");
  assert.ok(await field.evaluate((one) => one === document.activeElement));
  const { bottom } = await field.evaluate((one) => one.getBoundingClientRect().toJSON());
  assert.ok(bottom > 0 && bottom <= PHONE.height, `the field is in view: ${bottom}`);
  await hedda.page.setViewportSize(DESK);
  await hedda.press("Send");
  assert.match(await hedda.text(), /If nobody else wants it, I/);
  await ivar.open("/messages");
  assert.match(await ivar.text(), /1\s+unread/);
  await hedda.open("/messages");
  assert.doesNotMatch(await hedda.text(), /unread/);
});

people(here, "members send each other pictures, without JavaScript", async (person) => {
  const [ned, odile] = [await person({ javaScriptEnabled: false }), await person()];
  await ned.become("ned");
  await odile.become("odile");
  await ned.open("/messages/new");
  await ned.page.getByText("Picture or video", { exact: true }).click();
  await ned.fill({ To: "odile", "Description for people who do not see it": "A harbour in fog" });
  await ned.page.locator("#media").setInputFiles({ name: "harbour.png", mimeType: "image/png", buffer: await drawPicture(odile, 900, 600) });
  await ned.press("Send");
  await odile.open("/messages/new");
  await odile.page.getByText("Picture or video", { exact: true }).click();
  await look(odile, "new-message-file");
  await odile.open("/messages");
  await odile.page.getByRole("link", { name: /Photo/ }).click();
  await odile.page.waitForURL("**/messages/*");
  const shown = odile.page.getByRole("img", { name: "A harbour in fog" });
  await shown.scrollIntoViewIfNeeded();
  await odile.page.waitForFunction(() => [...document.querySelectorAll(".gallery img")].every((one) => one.naturalWidth > 0));
  await odile.page.getByText("Picture or video", { exact: true }).click();
  await odile.fill({ "Your message": "The fog lifts at nine" });
  await odile.page.locator("#media").setInputFiles({ name: "notes.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
  await odile.press("Send");
  assert.match(await odile.text(), /The media type is not supported/);
  await look(odile, "conversation-file-refused");
  await odile.page.locator("#media").setInputFiles({ name: "tall.png", mimeType: "image/png", buffer: await drawPicture(odile, 300, 900) });
  await odile.press("Send");
  await look(odile, "conversation-files");
  const file = await odile.page.locator(".bubble a", { hasText: "Open the picture" }).first().getAttribute("href");
  assert.equal((await odile.page.request.get(new URL(file, odile.page.url()).href)).status(), 200);
});

people(here, "a member keeps lists, which another one follows", async (person) => {
  const [vera, will] = [await person(), await person({ javaScriptEnabled: false })];
  await vera.become("vera");
  await will.become("will");
  await will.open("/home");
  await will.page.locator("textarea").first().fill("A boat for the list");
  await will.press("Post");
  await vera.open("/messages");
  await vera.choose("Lists");
  await vera.follow("New list");
  await vera.fill({ Name: "Harbours", Description: "Boats and bread" });
  await vera.press("Create list");
  const list = vera.path();
  await look(vera, "list-empty");
  await vera.follow("Add people");
  await vera.fill({ Username: "nobody_is_this" });
  await vera.press("Add");
  assert.match(await vera.text(), /no account called @nobody_is_this/);
  await look(vera, "list-members-refused");
  await vera.open("/will");
  await vera.follow("Add to list");
  await look(vera, "add-to-own-list");
  await vera.page.getByRole("button", { name: /^Add/ }).click();
  await vera.page.getByRole("button", { name: /^Remove/ }).waitFor();
  await vera.open(list);
  assert.match(await vera.text(), /A boat for the list/);
  await vera.press("Pin");
  await look(vera, "list");
  await vera.open(`${list}/members`);
  await look(vera, "list-members");
  await will.open(list);
  await will.press("Follow");
  await will.open("/lists?tab=followed");
  assert.match(await will.text(), /Harbours/);
  await will.open(`${list}/edit`);
  assert.equal(await will.heading(), "Page not found");
  await vera.open(`${list}/edit`);
  await look(vera, "edit-list");
  await vera.pick("Private");
  await vera.press("Save");
  await will.open(list);
  assert.equal(await will.heading(), "Page not found");
  await vera.open("/lists");
  await look(vera, "lists-pinned");
  await vera.open(`${list}/edit`);
  await vera.follow("Delete this list");
  await look(vera, "delete-list");
  await vera.press("Delete list");
  assert.match(await vera.text(), /You have no lists/);
});

people(here, "a member finds a community, joins it and posts to it", async (person) => {
  const [zelda, fabia] = [await person({ javaScriptEnabled: false }), await person()];
  await zelda.become("zelda");
  await fabia.become("fabia");
  here.server.cli("community", "create", "Net menders", "--owner", "fabia", "--description", "Nets and ropes");
  here.server.cli("community", "create", "Night watch", "--owner", "fabia", "--access", "Closed");
  await zelda.open("/home");
  await zelda.choose("Communities");
  assert.match(await zelda.text(), /You are not in any community/);
  await zelda.fill({ "Search for a community": "net" });
  await zelda.press("Search");
  await zelda.page.locator("a.entry", { hasText: "Net menders" }).click();
  await zelda.page.waitForURL("**/communities/*");
  const community = zelda.path();
  await zelda.press("Join");
  await zelda.follow("Write the first one");
  await zelda.fill({ Text: "Who mends nets today?" });
  await zelda.press("Post");
  assert.equal(zelda.path(), community);
  await fabia.open(community);
  await post(fabia, "Who mends nets today?").waitFor();
  await look(fabia, "community");
  await fabia.follow("Write a post");
  await look(fabia, "compose-to-community");
  await fabia.fill({ Text: "Nets for the spring" });
  await fabia.press("Save draft");
  await look(fabia, "draft-for-community");
  await fabia.follow("Edit");
  await fabia.page.getByText("Publish later").click();
  await fabia.page.getByLabel("Date and time in UTC").fill(new Date(Date.now() + 86_400_000).toISOString().slice(0, 16));
  await look(fabia, "schedule-for-community");
  await fabia.press("Schedule");
  assert.match(await fabia.text(), /In\s+Net menders/);
  await look(fabia, "scheduled-for-community");
  await fabia.open("/zelda");
  assert.match(await post(fabia, "Who mends nets today?").innerText(), /In\s+Net menders/);
  await look(fabia, "profile-with-community-post");
  await fabia.open(`${community}/members`);
  assert.match(await fabia.text(), /@zelda/);
  await look(fabia, "community-members");
  await fabia.open("/communities");
  await look(fabia, "communities-joined");
  await zelda.open("/communities?q=watch");
  await zelda.page.locator("a.entry", { hasText: "Night watch" }).click();
  await zelda.page.waitForURL("**/communities/*");
  assert.match(await zelda.text(), /This community is closed/);
  await fabia.open("/home");
  const visitor = await person();
  await visitor.open(zelda.path());
  await look(visitor, "community-closed");
  await zelda.open(community);
  await zelda.press("Leave");
  await zelda.open("/communities");
  assert.match(await zelda.text(), /You are not in any community/);
});

people(here, "a member changes their profile and its pictures", async (person) => {
  const [xena, yuri] = [await person({ javaScriptEnabled: false }), await person()];
  await xena.become("xena");
  await yuri.become("yuri");
  await xena.open("/xena");
  await xena.follow("Edit profile");
  await xena.fill({ Name: "Xena Okafor", Bio: "Boats and bread", Location: "Lagos", Link: "https://sea.example" });
  await xena.press("Save");
  assert.match(await xena.text(), /Your changes were saved/);
  const file = { name: "picture.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") };
  for (const part of ["picture", "banner"]) {
    await xena.page.locator(`#${part}`).setInputFiles(file);
    await xena.press("Upload", xena.page.locator("form", { has: xena.page.locator(`#${part}`) }));
    assert.match(await xena.text(), /Your changes were saved/);
  }
  await xena.page.locator("#picture").setInputFiles({ ...file, buffer: Buffer.from("no picture") });
  await xena.press("Upload", xena.page.locator("form", { has: xena.page.locator("#picture") }));
  assert.match(await xena.text(), /Choose a JPEG, PNG or WebP file/);
  await xena.page.locator("#picture").setInputFiles({ ...file, buffer: await drawPicture(yuri, 900, 300) });
  await xena.page.locator("#picture-keep").selectOption({ label: "The bottom, or the right" });
  await xena.press("Upload", xena.page.locator("form", { has: xena.page.locator("#picture") }));
  await yuri.open("/xena");
  const shape = await yuri.page.locator(".profile img").last().evaluate(async (image) => {
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  });
  assert.deepEqual(shape, [300, 300]);
  await look(yuri, "profile-with-pictures");
  assert.match(await yuri.text(), /Xena Okafor/);
  assert.equal(await yuri.page.locator(".profile img").count(), 2);
  await xena.open("/settings/profile");
  await xena.press("Remove", xena.page.locator("form", { has: xena.page.locator("#banner") }));
  await xena.pick("Protect your posts");
  await xena.press("Save");
  await yuri.open("/xena");
  assert.match(await yuri.text(), /protected/);
  assert.equal(await yuri.page.locator(".profile img").count(), 1);
});

people(here, "a report reaches a moderator, whose removal is appealed", async (person) => {
  const [quinn, rosa, mona] = [await person(), await person(), await person()];
  await quinn.become("quinn");
  await rosa.become("rosa");
  await mona.become("mona");
  here.server.cli("role", "grant", "mona", "moderator");
  await quinn.open("/home");
  await quinn.page.locator("textarea").first().fill("Buy my miracle cure");
  await quinn.press("Post");
  await rosa.open("/quinn");
  const href = await post(rosa, "miracle cure").locator("a[href^='/report?post=']").getAttribute("href");
  await rosa.open(href);
  await look(rosa, "report");
  await rosa.pick("Spam");
  await rosa.press("Report");
  await look(rosa, "reported");
  await mona.open("/admin");
  assert.match(await mona.text(), /miracle cure/);
  await look(mona, "queue");
  await mona.page.locator("input[name=reason], textarea[name=reason]").first().fill("Advertising for medicine");
  await mona.press("Remove the post");
  await rosa.open("/quinn");
  assert.doesNotMatch(await rosa.text(), /miracle cure/);
  await quinn.open("/settings/moderation");
  assert.match(await quinn.text(), /Advertising for medicine/);
  await look(quinn, "decision");
  await quinn.page.locator("textarea").first().fill("It was a joke");
  await quinn.press("Appeal");
  await mona.open("/admin");
  assert.match(await mona.text(), /It was a joke/);
  await look(mona, "appeals");
  for (const name of ["actions", "accounts", "people", "audit"]) {
    await mona.open(`/admin/${name}`);
    await look(mona, `admin-${name}`);
  }
  await mona.open("/admin/accounts?username=quinn");
  await mona.page.locator("input[name=reason]").fill("Advertising again");
  await look(mona, "admin-account");
  await mona.press("Silence");
  assert.match(await mona.text(), /@quinn was silenced/);
});

people(here, "the operator registers by the setup link, names the site and blocks a term", async (person) => {
  const olga = await person();
  const { pathname, search } = new URL(here.server.cli("role", "setup").link);
  await olga.open(pathname + search);
  await look(olga, "setup");
  const fields = { name: "Olga", username: "olga", email: "olga@harbour.example", password: "tr4ms stop here" };
  for (const [name, text] of Object.entries(fields)) {
    await olga.page.locator(`input[name=${name}]`).fill(text);
  }
  await olga.press("Create account");
  assert.equal(new URL(olga.page.url()).pathname, "/admin/site");
  await look(olga, "admin-site");
  await olga.page.locator("input[name=name]").fill("Harbour Town");
  for (const registrations of ["sometimes", ""]) {
    await olga.page.locator("#registrations").fill(registrations);
    await olga.press("Save");
  }
  assert.match(await olga.page.locator(".wordmark").innerText(), /Harbour Town/);
  assert.match(await olga.page.title(), /· Harbour Town$/);
  await olga.open("/admin/terms");
  await look(olga, "admin-terms-empty");
  await olga.page.locator("#term").fill("Cheap Pills");
  await olga.pick("Hold instead of refusing");
  await olga.press("Block");
  await olga.page.locator("#term").fill("no host");
  await olga.pick("Link host");
  await olga.press("Block");
  assert.match(await olga.text(), /letters, digits, hyphens and dots/);
  assert.match(await olga.text(), /cheap pills/);
  await look(olga, "admin-terms");
  await olga.press("Unblock cheap pills");
  assert.match(await olga.text(), /Nothing is blocked/);
});
