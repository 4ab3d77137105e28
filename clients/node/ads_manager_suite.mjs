// The Ads Manager in Chromium, compared with the Ads API. LOCUM_SCREENSHOTS
// names a directory for screenshots of its pages.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { PASSWORD } from "./browser.mjs";
import { WAYS_WITH_SMALL_PHONE, drawPicture, inspectAtEachSize, isInert } from "./inspect.mjs";
import { signed } from "./sign.mjs";
import { people, world } from "./suite.mjs";

const here = world();
let numbers = 0;

/** Inspects the open page on desktop and phone sizes, light and dark. */
async function look(person, name) {
  const at = String(++numbers).padStart(2, "0");
  await isInert(person);
  await inspectAtEachSize(person, `${at}-${name}`, WAYS_WITH_SMALL_PHONE);
}

/** A user with an advertising account, a funding instrument and an app. */
async function advertiser(person, username, ...more) {
  const one = await (await person()).become(username);
  const name = `Account of ${username}`;
  const account = here.server.cli("ads", "account", "create", name, "--user", username, ...more);
  const start = ["--start", "2020-01-01T00:00:00Z"];
  here.server.cli("ads", "account", "funding", account.id, "--amount", "5000", "--currency", "EUR", ...start);
  const app = here.server.cli("app", "create", `App of ${username}`, "--owner", username, "--permission", "write");
  const minted = here.server.cli("token", "mint", "--app", app.id, "--user", username, "--oauth1");
  const token = { key: minted.access_token, secret: minted.access_token_secret };
  const api = async (method, path, data = {}) => {
    const isForm = method === "POST";
    const query = isForm ? "" : new URLSearchParams(data).toString();
    const [sent, rest] = [isForm ? data : {}, query && `?${query}`];
    const before = more.includes("--sandbox") ? "/ads-sandbox" : "";
    const answer = await signed(here.server, app, method, `${before}/12/accounts/${account.id}${path}${rest}`, sent, token);
    const body = await answer.json();
    assert.equal(answer.status, 200, JSON.stringify(body));
    return body.data;
  };
  const says = async (text, more = {}) => {
    const { token: bearer } = here.server.cli("token", "mint", "--app", app.id, "--user", username);
    const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
    const answer = await fetch(`${here.server.url}/2/tweets`, { method: "POST", headers, body: JSON.stringify({ text, ...more }) });
    assert.equal(answer.status, 201);
    return (await answer.json()).data;
  };
  const stats = async (params) => {
    const path = `/12/stats/accounts/${account.id}?${new URLSearchParams(params)}`;
    const answer = await signed(here.server, app, "GET", path, {}, token);
    const body = await answer.json();
    assert.equal(answer.status, 200, JSON.stringify(body));
    return body.data[0].id_data[0].metrics;
  };
  return { one, account, api, says, stats, home: `/ads/${account.id}` };
}

/** Waits for background work of the server. */
async function until(holds) {
  for (const end = Date.now() + 60_000; !(await holds()); await sleep(300)) {
    assert.ok(Date.now() < end, `it did not come: ${holds}`);
  }
}

/** Selects an option in a list. */
const choose = (person, label, value) => person.page.getByLabel(label, { exact: true }).selectOption(value);
/** A row of a table. */
const row = (person, text) => person.page.locator("tbody tr", { hasText: text });
/** The last part of a page's path. */
const idOf = (person) => person.path().split("/").at(-1);

people(here, "a campaign is made, promoted with, changed and paused, and apps see the same", async (person) => {
  const { one: ada, account, api, says, home } = await advertiser(person, "merchant");
  await ada.choose("Ads Manager");
  await look(ada, "accounts");
  await ada.follow(`Account of merchant`);
  assert.equal(ada.path(), home);
  assert.match(await ada.text(), /No campaigns yet/);
  await look(ada, "campaigns-none");

  await ada.follow("Create campaign");
  await look(ada, "campaign-new");
  await ada.fill({ Name: "Spring", "Daily budget": "20", "Total budget": "10.00" });
  await ada.press("Create campaign");
  assert.equal(await ada.heading(), "Create campaign");
  assert.match(await ada.page.locator("#daily_budget_amount_local_micro-error").innerText(), /must not be above the total/);
  assert.equal(await ada.page.getByLabel("Name", { exact: true }).inputValue(), "Spring", "what was typed stays");
  await look(ada, "campaign-wrong");
  await ada.fill({ "Total budget": "a lot" });
  await ada.press("Create campaign");
  assert.match(await ada.page.locator("#total_budget_amount_local_micro-error").innerText(), /such as 20\.00/);
  await ada.fill({ "Total budget": "500.50" });
  await ada.press("Create campaign");
  assert.equal(await ada.heading(), "Spring");
  assert.match(await ada.page.getByRole("status").innerText(), /Created/);
  const campaign = idOf(ada);
  const made = await api("GET", `/campaigns/${campaign}`);
  assert.equal(made.daily_budget_amount_local_micro, 20_000_000);
  assert.equal(made.total_budget_amount_local_micro, 500_500_000);
  assert.equal(made.currency, "EUR");

  await ada.follow("Add line item");
  await ada.fill({ Name: "Riders", "Bid amount": "0.15", "Starts (America/Los_Angeles)": "2026-01-01T00:00" });
  await look(ada, "line-item-new");
  await choose(ada, "Bid", "MAX");
  await ada.press("Create line item");
  assert.equal(await ada.heading(), "Riders");
  const item = idOf(ada);
  const stored = await api("GET", `/line_items/${item}`);
  assert.equal(stored.bid_amount_local_micro, 150_000);
  assert.equal(stored.start_time, "2026-01-01T08:00:00Z");
  assert.equal(stored.campaign_id, campaign);
  await look(ada, "line-item-empty");

  const post = await says("Our bikes are back.");
  await ada.follow("Promote post");
  await look(ada, "promote");
  await choose(ada, "Post", post.id);
  await ada.press("Promote");
  assert.match(await row(ada, "Our bikes are back.").innerText(), /Active/i);
  const [promoted] = await api("GET", "/promoted_tweets", { line_item_ids: item });
  assert.equal(promoted.tweet_id, post.id);
  assert.equal((await api("GET", `/campaigns/${campaign}`)).effective_status, "RUNNING");

  await ada.follow("Add targeting");
  await ada.fill({ Value: "bicycle" });
  await ada.press("Add targeting");
  await ada.follow("Add tracking tag");
  await ada.fill({ URL: "ftp://partner.example" });
  await ada.press("Add tag");
  assert.match(await ada.page.locator("#tracking_tag_url-error").innerText(), /URL/);
  await ada.fill({ URL: "https://partner.example/seen" });
  await ada.press("Add tag");
  assert.equal((await api("GET", "/tracking_tags", { line_item_ids: item })).length, 1);
  assert.equal((await api("GET", "/targeting_criteria", { line_item_ids: item }))[0].targeting_value, "bicycle");
  await look(ada, "line-item");
  await ada.follow("Add targeting");
  await choose(ada, "Find by name", "LOCATION");
  await ada.fill({ Name: "lisbon" });
  await ada.press("Search");
  await look(ada, "targeting-found");
  await ada.press("Include Lisbon, Portugal");
  assert.match(await ada.page.getByRole("status").innerText(), /Added/);
  assert.equal((await api("GET", "/targeting_criteria", { line_item_ids: item })).length, 2);
  await ada.follow("Riders");

  await ada.follow("Edit");
  await ada.fill({ "Bid amount": "0.2", "Ends (America/Los_Angeles)": "2026-12-31T12:00" });
  await ada.press("Save changes");
  const changed = await api("GET", `/line_items/${item}`);
  assert.equal(changed.bid_amount_local_micro, 200_000);
  assert.equal(changed.end_time, "2026-12-31T20:00:00Z");
  assert.equal(changed.goal, stored.goal, "nothing else is changed");
  assert.match(await row(ada, "Ads Manager").first().innerText(), /merchant/);

  await ada.open(home);
  await look(ada, "campaigns");
  await ada.page.getByLabel("Select Spring", { exact: true }).check();
  await ada.press("Edit selected");
  assert.equal(await ada.heading(), "Edit 1 campaign");
  await look(ada, "campaigns-selected");
  await ada.fill({ "Daily budget": "25" });
  await ada.press("Save changes");
  assert.equal((await api("GET", `/campaigns/${campaign}`)).daily_budget_amount_local_micro, 25_000_000);
  await ada.press("Pause Spring");
  assert.equal(ada.path(), home);
  assert.equal((await api("GET", `/campaigns/${campaign}`)).entity_status, "PAUSED");
  await look(ada, "paused");
  await ada.press("Undo pause");
  assert.equal((await api("GET", `/campaigns/${campaign}`)).entity_status, "ACTIVE");
  await api("PUT", `/campaigns/${campaign}`, { entity_status: "ACTIVE", name: "Summer" });
  await ada.reload();
  assert.match(await row(ada, "Summer").innerText(), /Running/);
  await ada.follow("Summer");
  await look(ada, "campaign");
  await ada.follow("Riders");
  await ada.follow(`Stop promoting ${post.id}`);
  await look(ada, "stop-promoting");
  await ada.press("Stop promoting");
  assert.deepEqual(await api("GET", "/promoted_tweets", { line_item_ids: item }), []);
  await ada.open(`${home}/campaigns/${campaign}/delete`);
  await ada.press("Delete");
  assert.equal(ada.path(), home);
  assert.deepEqual(await api("GET", "/campaigns"), []);
  assert.equal(account.id, home.split("/").at(-1));
});

people(here, "figures are those that apps are answered", async (person) => {
  const { one: ada, account, api, says, stats, home } = await advertiser(person, "counter");
  const [instrument] = await api("GET", "/funding_instruments");
  const paid = { funding_instrument_id: instrument.id, daily_budget_amount_local_micro: "90000000" };
  const made = async (name) => {
    const campaign = await api("POST", "/campaigns", { ...paid, name });
    const item = { campaign_id: campaign.id, objective: "ENGAGEMENTS", product_type: "PROMOTED_TWEETS", placements: "ALL_ON_TWITTER" };
    const times = { start_time: "2026-01-01T00:00:00Z", bid_amount_local_micro: "150000" };
    const { id } = await api("POST", "/line_items", { ...item, ...times, name: `${name} riders` });
    await api("POST", "/promoted_tweets", { line_item_id: id, tweet_ids: (await says(`Ride in ${name}.`)).id });
    return campaign.id;
  };
  const [spring] = [await made("Spring"), await made("Autumn")];
  here.server.cli("ads", "simulate", account.id, "--hours", "30");
  const hour = 3_600_000;
  const now = Math.floor(Date.now() / hour) * hour;
  const at = (ms) => new Date(ms).toISOString().replace(".000", "");
  const metrics = await stats({
    entity: "CAMPAIGN",
    entity_ids: spring,
    start_time: at(now - 35 * hour),
    end_time: at(now + hour),
    granularity: "TOTAL",
    metric_groups: "ENGAGEMENT,BILLING",
    placement: "ALL_ON_TWITTER",
  });
  const spent = `${(Math.round(metrics.billed_charge_local_micro[0] / 10_000) / 100).toFixed(2)} EUR`;
  await ada.open(home);
  const said = (await row(ada, "Spring").innerText()).replaceAll(",", "");
  assert.ok(said.includes(spent), `${spent} in ${said}`);
  assert.ok(said.includes(`${metrics.impressions[0]} impressions`), said);
  await look(ada, "figures");
  await ada.follow("Spring");
  const above = await ada.page.locator(".series", { hasText: "Spend" }).innerText();
  assert.ok(above.replaceAll(",", "").includes(spent), above);
  await ada.follow("28 days");
  await ada.page.getByText("Show as table").click();
  assert.equal(await ada.page.locator(".charts + .more tbody tr").count(), 28);
  await look(ada, "figures-of-a-campaign");
  await ada.open(`${home}/reports`);
  await choose(ada, "Break down by", "day");
  await choose(ada, "Compare with", "previous");
  await ada.press("Show report");
  assert.ok((await row(ada, "Autumn").count()) > 0);
  await look(ada, "report");
  await ada.open(`${home}/campaigns/drafts`);
  await look(ada, "drafts-none");
  await ada.open(`${home}/audiences/combine`);
  await look(ada, "combine");
});

people(here, "posts are written, scheduled and kept as drafts, and polls are made", async (person) => {
  const { one: ada, api, home } = await advertiser(person, "painter");
  await ada.open(`${home}/posts`);
  await look(ada, "posts-none");
  const soon = new Date(Date.now() + 3_600_000);
  const zone = { timeZone: "America/Los_Angeles" };
  // The form of a `datetime-local` value, which Sweden uses.
  const typed = soon.toLocaleString("sv-SE", zone).slice(0, 16).replace(" ", "T");
  await ada.follow("Schedule post", ada.page.locator(".headline").first());
  await ada.fill({ Text: "New colours tomorrow.", "Scheduled for (America/Los_Angeles)": "2020-01-01T00:00" });
  await ada.press("Schedule");
  assert.match(await ada.page.locator("#scheduled_at-error").innerText(), /future/);
  await look(ada, "schedule");
  await ada.fill({ "Scheduled for (America/Los_Angeles)": typed });
  await ada.press("Schedule");
  assert.match(await row(ada, "New colours tomorrow.").innerText(), /Scheduled/);
  assert.equal((await api("GET", "/scheduled_tweets"))[0].scheduled_at, `${soon.toISOString().slice(0, 16)}:00Z`);
  await ada.open(`${home}/cards`);
  await look(ada, "cards-none");
  await ada.follow("Poll card");
  await look(ada, "poll-new");
  await ada.fill({ Name: "Which colour", "First choice": "Red" });
  await ada.press("Create card");
  assert.match(await ada.page.locator("#second_choice-error").innerText(), /required/);
  await ada.fill({ "Second choice": "Blue" });
  await ada.press("Create card");
  assert.match(await ada.page.locator(".preview").innerText(), /@painter[^]*Red\s+Blue/);
  await look(ada, "poll-card");
  await ada.open(`${home}/posts`);
  await ada.follow("New colours tomorrow.");
  await ada.follow("Edit");
  await choose(ada, "Card", (await api("GET", "/cards/poll"))[0].card_uri);
  await ada.press("Save changes");
  assert.match(await ada.page.locator(".preview").innerText(), /New colours tomorrow\.[^]*Red\s+Blue/);
  await look(ada, "scheduled-post");
  await ada.open(`${home}/drafts/new`);
  await ada.fill({ Text: "Not finished", Name: "Idea" });
  await ada.press("Save draft");
  assert.match(await row(ada, "Not finished").innerText(), /Idea/);
  await look(ada, "posts");
  await ada.follow("Account");
  assert.match(await row(ada, "@painter").innerText(), /Account administrator/);
  assert.match(await row(ada, "EUR").innerText(), /5,000\.00 EUR/);
  await look(ada, "account");
});

people(here, "from an uploaded picture to a card, a promoted post, an audience of a file, figures and advice", async (person) => {
  const { one: ada, api, says, home } = await advertiser(person, "journey");
  const friends = ["rider_one", "rider_two", "rider_three"];
  for (const friend of friends) here.server.cli("user", "create", friend, "--password", PASSWORD);
  await ada.open(`${home}/campaigns/new`);
  await ada.fill({ Name: "Bridge", "Daily budget": "0.20" });
  await ada.press("Create campaign");
  const campaign = idOf(ada);
  await ada.follow("Add line item");
  await ada.fill({ Name: "Riders", "Bid amount": "0.15", "Starts (America/Los_Angeles)": "2026-01-01T00:00" });
  await choose(ada, "Bid", "MAX");
  await ada.press("Create line item");
  const item = idOf(ada);

  await ada.follow("Media");
  await ada.follow("Upload media");
  await ada.press("Upload");
  assert.match(await ada.page.locator("#media-error").innerText(), /Choose a file/);
  await ada.fill({ Name: "The bridge" });
  await ada.page.getByLabel("File", { exact: true }).setInputFiles({ name: "bridge.png", mimeType: "image/png", buffer: await drawPicture(ada, 1200, 628) });
  await look(ada, "media-upload");
  await ada.press("Upload");
  assert.match(await ada.page.locator(".preview", { hasText: "The bridge" }).innerText(), /Image/);
  assert.ok(await ada.page.locator(".preview img").evaluate((image) => image.decode().then(() => image.naturalWidth > 0)));
  await look(ada, "media");

  await ada.follow("Cards");
  await ada.follow("Website card");
  await ada.fill({ Name: "Bridge card", Headline: "Cross it by bike", Website: "not an address" });
  const [{ media_key: key }] = await api("GET", "/media_library");
  await choose(ada, "Image or video", key);
  await ada.press("Create card");
  assert.match(await ada.page.locator("#website_url-error").innerText(), /URL/);
  await ada.fill({ Website: "https://bikes.example/bridge" });
  await ada.press("Create card");
  assert.equal(await ada.heading(), "Bridge card");
  assert.match(await ada.page.locator(".preview").innerText(), /@journey[^]*Cross it by bike/);
  await look(ada, "card");
  await ada.open(`${home}/cards`);
  await look(ada, "cards");
  const [card] = await api("GET", "/cards");
  const post = await says("The bridge is open.", { card_uri: card.card_uri });
  await ada.open(`${home}/line-items/${item}`);
  await ada.follow("Promote post");
  await choose(ada, "Post", post.id);
  await ada.press("Promote");

  await ada.follow("Audiences");
  await ada.follow("Create audience");
  await ada.fill({ Name: "Club", Description: "Who rides with us." });
  await ada.press("Create audience");
  await ada.follow("Add or remove people");
  await choose(ada, "Identifier type", "handle");
  const list = (text) => ada.page.getByLabel("File", { exact: true }).setInputFiles({ name: "club.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await list(`${friends[0]}\nnot a name\n`);
  await ada.press("Upload list");
  assert.match(await ada.page.locator("#list-error").innerText(), /line 2/);
  assert.doesNotMatch(await ada.page.content(), /not a name/);
  await look(ada, "people-wrong");
  await list(`handle,note\n@${friends.join(",a\n@")},b\n`);
  await ada.press("Upload list");
  await until(async () => {
    await ada.reload();
    return /Size\s+3/.test(await ada.text());
  });
  await look(ada, "audience");
  const audience = idOf(ada);
  await ada.open(`${home}/line-items/${item}`);
  await ada.follow("Target audience");
  await choose(ada, "Audience", audience);
  await look(ada, "target-audience");
  await ada.press("Add targeting");
  assert.match(await row(ada, "Club").innerText(), /Custom audience\s+Is/);
  await ada.open(`${home}/audiences`);

  // A campaign that spends its daily budget in the morning on most days.
  await api("PUT", `/campaigns/${campaign}`, { standard_delivery: "false" });
  for (let more = 0; more < 9; more++) {
    const params = { campaign_id: campaign, objective: "ENGAGEMENTS", product_type: "PROMOTED_TWEETS", placements: "ALL_ON_TWITTER" };
    const times = { start_time: "2026-01-01T00:00:00Z", bid_amount_local_micro: "150000" };
    const { id } = await api("POST", "/line_items", { ...params, ...times, name: `More ${more}` });
    await api("POST", "/promoted_tweets", { line_item_id: id, tweet_ids: post.id });
  }
  here.server.cli("ads", "simulate", home.split("/").at(-1), "--hours", "168");
  await ada.open(`${home}/campaigns/${campaign}`);
  await ada.follow("Breakdown");
  await choose(ada, "Break down by", "placement");
  await ada.press("Show report");
  await look(ada, "report-by-placement");
  const [, spent] = await row(ada, "On this network").locator("td").allInnerTexts();
  assert.match(spent, /^[1-9.,0]+ EUR$/);
  assert.notEqual(spent, "0.00 EUR");
  const [file] = await Promise.all([ada.page.waitForEvent("download"), ada.page.getByRole("link", { name: "Download as CSV" }).click()]);
  const text = await readFile(await file.path(), "utf8");
  assert.match(text, /^ID,Name,Placement,Currency,Spend/);
  assert.ok(text.includes(`On this network,EUR,${spent.split(" ")[0]}`), text);
  await choose(ada, "Break down by", "platform");
  await ada.press("Show report");

  here.server.cli("ads", "account", "recommend", home.split("/").at(-1));
  await ada.follow("Recommendations");
  assert.match(await row(ada, "Daily budget").innerText(), /0\.20 EUR\s+0\.25 EUR/);
  await look(ada, "recommendations");
  await ada.page.getByRole("button", { name: /^Apply/ }).click();
  await ada.page.getByText("The recommendation was applied.").waitFor();
  assert.equal((await api("GET", `/campaigns/${campaign}`)).daily_budget_amount_local_micro, 250_000);
});

people(here, "an administrator says who works on the account", async (person) => {
  const { one: ada, home } = await advertiser(person, "chief");
  const bob = await (await person()).become("assistant");
  await ada.open(`${home}/account`);
  await ada.follow("Add person");
  await ada.fill({ Username: "nobody_of_this_name" });
  await ada.press("Add person");
  assert.match(await ada.page.locator("#username-error").innerText(), /No user/);
  await look(ada, "person-wrong");
  await ada.fill({ Username: "@assistant" });
  await choose(ada, "Role", "AD_MANAGER");
  await ada.press("Add person");
  assert.match(await row(ada, "@assistant").innerText(), /Ad manager/);
  await look(ada, "people");
  await bob.open(home);
  await bob.follow("Create campaign");
  await ada.follow("Change assistant");
  await choose(ada, "Role", "CAMPAIGN_ANALYST");
  await ada.press("Save changes");
  assert.equal((await bob.open(`${home}/campaigns/new`)).status(), 403);
  await ada.follow("Change chief");
  await choose(ada, "Role", "ANALYST");
  await ada.press("Save changes");
  assert.match(await ada.page.locator("#composes-error").innerText(), /makes no posts/);
  await choose(ada, "Can post on behalf of the account", "false");
  await ada.press("Save changes");
  assert.match(await ada.page.locator("#role-error").innerText(), /needs an administrator/);
  await ada.open(`${home}/account`);
  await ada.follow("Remove assistant");
  await look(ada, "person-remove");
  await ada.press("Remove");
  assert.equal(await row(ada, "@assistant").count(), 0);
  assert.equal((await bob.open(home)).status(), 404);
});

people(here, "a role is offered what it may do, and a sandbox says what it is", async (person) => {
  const { one: ada, account, home } = await advertiser(person, "owner_of_ads");
  const analyst = await (await person()).become("analyst_of_ads");
  here.server.cli("ads", "account", "role", account.id, "analyst_of_ads", "CAMPAIGN_ANALYST");
  await ada.open(`${home}/campaigns/new`);
  await ada.fill({ Name: "Quiet", "Daily budget": "5" });
  await ada.press("Create campaign");
  const campaign = idOf(ada);
  await analyst.open(home);
  assert.equal(await analyst.page.getByRole("link", { name: "Create campaign" }).count(), 0);
  assert.equal(await analyst.page.getByRole("button", { name: "Pause Quiet" }).count(), 0);
  await analyst.follow("Quiet");
  assert.equal(await analyst.page.getByRole("link", { name: "Edit", exact: true }).count(), 0);
  await look(analyst, "campaign-for-an-analyst");
  assert.equal((await analyst.open(`${home}/campaigns/${campaign}/edit`)).status(), 403);
  assert.equal((await analyst.open(`${home}/campaigns/new`)).status(), 403);
  const stranger = await (await person()).become("stranger_to_ads");
  assert.equal((await stranger.open(home)).status(), 404);
  await stranger.open("/ads");
  assert.match(await stranger.text(), /No ads accounts/);
  await look(stranger, "accounts-none");
  const sandbox = await advertiser(person, "player", "--sandbox");
  await sandbox.one.open(sandbox.home);
  assert.match(await sandbox.one.text(), /Sandbox/);
  await sandbox.one.page.locator("details.switch > summary").click();
  await look(sandbox.one, "sandbox");
});
