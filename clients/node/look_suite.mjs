// Every page on phone and desktop sizes, light and dark. LOCUM_SCREENSHOTS names a directory
// for screenshots.

import assert from "node:assert/strict";

import { PASSWORD } from "./browser.mjs";
import { WAYS_WITH_SMALL_PHONE, inspectAtEachSize, isInert } from "./inspect.mjs";
import { ask, begin, exchange } from "./sign.mjs";
import { people, world } from "./suite.mjs";

const here = world();
let numbers = 0;

/** Inspects the open page. */
async function look(person, name) {
  const at = String(++numbers).padStart(2, "0");
  await isInert(person);
  assert.ok((await person.page.title()).endsWith(" · Locum"), name);
  await inspectAtEachSize(person, `${at}-${name}`, WAYS_WITH_SMALL_PHONE);
}

people(here, "signing in and joining", async (person) => {
  const ada = await person();
  const app = here.server.app("Photo Booth", [here.callback], "--description", "Prints what you saw.", "--website", "https://photos.example");
  await ada.open("/");
  await look(ada, "start");
  await ada.open("/nothing/here");
  await look(ada, "not-found");
  await ada.open("/login");
  await look(ada, "sign-in");
  await ada.signIn("nobody", "wrong");
  await look(ada, "sign-in-wrong");
  await ada.open(ask(app, here.callback).address);
  await look(ada, "sign-in-for-an-app");
  await ada.open("/join");
  await look(ada, "join");
  await ada.fill({ Name: "X", Username: "ada", Email: "ada@example.com", Password: "password" });
  await ada.press("Create account");
  await look(ada, "join-refused");
  await ada.fill({ Name: "X", Username: "newcomer1", Email: "ada@example.com", Password: "newcomer1 was here" });
  await ada.press("Create account");
  assert.match(await ada.text(), /must not contain the username/);
  await look(ada, "join-own-name");
  await ada.open("/forgotten-password");
  await look(ada, "forgotten");
  await ada.fill({ Email: "somebody@example.com" });
  await ada.press("Send link");
  await look(ada, "forgotten-sent");
  await ada.open("/account/reset?token=nothing");
  await look(ada, "reset-dead");
});

people(here, "letters and what they lead to", async (person) => {
  const ada = await person();
  await ada.open("/join");
  await ada.join("newcomer");
  await ada.open("/mailbox");
  await look(ada, "mailbox");
  await ada.page.locator("main .list li a").first().click();
  await ada.page.locator(".message-text a").waitFor();
  await look(ada, "email");
  await ada.page.locator(".message-text a").click();
  await ada.page.getByRole("button", { name: "Confirm email" }).waitFor();
  await look(ada, "confirm");
  await ada.press("Confirm email");
  await look(ada, "confirmed");
  await ada.open("/forgotten-password");
  await ada.fill({ Email: "newcomer@example.com" });
  await ada.press("Send link");
  await ada.open("/mailbox");
  await ada.page.locator("main .list li a").first().click();
  await ada.page.locator(".message-text a").click();
  await ada.page.getByRole("button", { name: "Save password" }).waitFor();
  await look(ada, "reset");
});

people(here, "a person's settings", async (person) => {
  const app = here.server.app("Calendar", [here.callback], "--website", "https://calendar.example");
  const ada = await (await person()).become("settled");
  await ada.open("/settings/account");
  await look(ada, "account");
  await ada.page.locator("details.menu > summary").click();
  await look(ada, "menu");
  await ada.open("/settings/data");
  await look(ada, "account-data");
  await ada.open("/settings/apps");
  await look(ada, "connected-none");
  for (const other of [app, here.server.app("Tide tables", [here.callback])]) {
    const asked = ask(other, here.callback, "tweet.read users.read tweet.write dm.read dm.write offline.access");
    await ada.authorize(asked.address);
    await exchange(here.server, other, asked, ada.told().code);
  }
  await ada.open("/settings/apps");
  await ada.page.locator("details.more summary").first().click();
  await look(ada, "connected");
  const other = await person({ userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1" });
  await other.open("/login");
  await other.signIn("settled", PASSWORD);
  await ada.open("/settings/sessions");
  await look(ada, "sessions");
  await ada.open("/settings/account");
  await ada.fill({ "Current password": "wrong", "New password": "short pass" });
  await ada.press("Change password");
  await look(ada, "account-refused");
  await ada.fill({ "New email": "settled@new.example", "Your password": PASSWORD });
  await ada.press("Change email");
  await look(ada, "email-sent");
  await ada.open("/settings/account");
  await look(ada, "account-pending");
  await ada.open("/");
  await look(ada, "start-signed-in");
  await ada.open("/logout");
  await look(ada, "sign-out");
});

people(here, "answering an app", async (person) => {
  const app = here.server.app("Photo Booth Two", [here.callback], "--description", "Prints what you saw, and sends it to your friends.", "--website", "https://photos.example", "--permission", "messages", "--request-email");
  const ada = await person();
  await ada.open("/login");
  await ada.signIn();
  await ada.open((await begin(here.server, app, here.callback)).address);
  await look(ada, "authorize");
  await ada.open(ask(app, here.callback, "tweet.read tweet.write users.read follows.read follows.write dm.read dm.write offline.access").address);
  await look(ada, "consent");
  here.server.cli("user", "create", "imitator");
  const foreign = "https://xn--bcher-kva.example/cb";
  const copy = here.server.cli("app", "create", "Ph0to Booth Two", "--owner", "imitator", "--callback", foreign);
  await ada.open(ask(copy, foreign).address);
  assert.match(await ada.text(), /Another app has a similar name/);
  assert.match(await ada.text(), /xn--bcher-kva\.example \(displayed as bücher\.example\)/);
  await look(ada, "consent-similar");
  await ada.open((await begin(here.server, copy, foreign)).address);
  await look(ada, "authorize-similar");
  await ada.open((await begin(here.server, app, "oob")).address);
  await ada.press("Authorize app");
  await look(ada, "pin");
  await ada.open((await begin(here.server, app, "oob")).address);
  await ada.press("Cancel");
  await look(ada, "cancelled");
  await ada.open("/oauth/authorize?oauth_token=nothing");
  await look(ada, "token-unknown");
  await ada.open(ask(app, `${here.callback}/`).address);
  await look(ada, "callback-refused");
});

people(here, "a developer's pages", async (person) => {
  const ada = await (await person()).become("developer");
  await ada.open("/developer/apps");
  await look(ada, "apps-none");
  await ada.follow("Create your first app");
  await look(ada, "new-app");
  await ada.fill({ Name: "Tide tables", Description: "Says when the water comes.", "Callback URLs": "not an address" });
  await ada.press("Create app");
  await look(ada, "new-app-refused");
  await ada.fill({ Name: "L0cum Support" });
  await ada.press("Create app");
  assert.match(await ada.text(), /could be mistaken for Locum itself/);
  await look(ada, "new-app-impersonating");
  await ada.fill({ Name: "Tide tables" });
  await ada.fill({ "Callback URLs": here.callback });
  await ada.press("Create app");
  await look(ada, "keys-shown");
  const token = await ada.page.locator("dl.values dd").nth(2).innerText();
  await here.server.ask(`/2/users/${here.server.env.USER_ID}`, token);
  await ada.follow("Keys");
  await look(ada, "keys");
  await ada.follow("Regenerate the bearer token");
  await look(ada, "regenerate");
  await ada.follow("Cancel");
  await ada.follow("Settings");
  await look(ada, "app-settings");
  await ada.follow("Callbacks");
  await look(ada, "callbacks");
  await ada.fill({ "Callback URL": `${here.callback}?more=1` });
  await ada.press("Test callback URL");
  await look(ada, "callbacks-tried");
  await ada.follow("Usage");
  await look(ada, "usage");
  await ada.follow("Delete");
  await look(ada, "delete");
  await ada.open("/developer/apps");
  await look(ada, "apps");
  await ada.open("/developer/explain");
  await look(ada, "explain");
  await ada.fill({
    Method: "GET",
    URL: `${here.server.url}/2/users/me?a=b`,
    "Authorization header": 'OAuth oauth_consumer_key="x", oauth_nonce="n", oauth_signature="s", oauth_signature_method="HMAC-SHA1", oauth_timestamp="1", oauth_version="1.0"',
    "Your base string": "GET&http%3A%2F%2F127.0.0.1",
  });
  await ada.press("Explain signature");
  await look(ada, "explained");
});

people(here, "the search console and an app's stream", async (person) => {
  const ada = await (await person()).become("searcher");
  await ada.open("/developer/search");
  await look(ada, "search-blank");
  await ada.fill({ Query: "(coffee OR \"flat white\") lang:en -is:retweet" });
  await ada.press("Search");
  await look(ada, "search-nothing");
  await ada.fill({ Query: "coffee, tea" });
  await ada.press("Search");
  await look(ada, "search-refused");
  const app = here.server.cli("app", "create", "Watcher", "--owner", "searcher");
  await ada.open(`/developer/apps/${app.id}/stream`);
  await look(ada, "stream-none");
  await ada.fill({ Rule: "coffee", Tag: "drinks" });
  await ada.press("Add rule");
  await look(ada, "stream-one");
  await ada.fill({ Rule: "coffee" });
  await ada.press("Test on stored posts");
  await look(ada, "stream-tried");
});
