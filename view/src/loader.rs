//! Loads everything a response is rendered from: one query per object kind and expansion level.

use std::collections::HashSet;

use base::id::first_snowflake_at;
use base::{Fault, MediaId, PostId, SiteLinks, UserId, sorted_distinct};
use network::link_facts;
use network::uploads::UNATTACHED_TTL_MS;
use network::visibility::{AuthorVisibilities, Viewer, Visibility};
use store::ads::card_links;
use store::graph::{self, RelationKind};
use store::ledger::{self, AdEntity, MetricSums};
use store::media::Media;
use store::posts::{Post, PostState};
use store::users::User;
use store::{
    Tx, communities, follows, media, messages, places, playbacks, polls, posts, records, spaces, subscriptions, users,
    views,
};

use crate::FieldSelection;
use crate::field_schema::ExpansionTarget;
use crate::loaded_objects::{LoadedObjects, PostClicks};
use crate::media::{id_from_media_key, metric_fields};
use crate::object::{ObjectKind, RenderedObject};
use crate::posts::{
    OWNER_ONLY, PostRenderContext, card_id, link_truncated_text, media_keys, short_text, shorten_links,
};
use crate::users::{USERS_ONLY, UserRenderContext};

/// The fields that show what is known about links.
const LINK_FIELDS: [&str; 2] = ["entities", "note_post"];

/// The keys that one level of expansions requires.
#[derive(Default)]
struct LoadPlan {
    users: Vec<UserId>,
    posts: Vec<PostId>,
    media: Vec<i64>,
    topics: Vec<i64>,
    polls: Vec<i64>,
    places: Vec<i64>,
}

impl LoadPlan {
    fn new<'a, T: RenderedObject>(
        selection: &FieldSelection,
        objects: impl Iterator<Item = T::Context<'a>> + Clone,
        nested: bool,
    ) -> Self {
        let mut plan = Self::default();
        selection.visit_targets::<T>(objects, nested, |_, target| match target {
            ExpansionTarget::User(id) => plan.users.push(id),
            ExpansionTarget::Post(id) => plan.posts.push(id),
            ExpansionTarget::Media(key) => plan.media.extend(id_from_media_key(key)),
            ExpansionTarget::Topic(id) => plan.topics.push(id),
            ExpansionTarget::Poll(id) => plan.polls.push(id),
            ExpansionTarget::Place(id) => plan.places.extend(network::places::parse_place_id(id)),
        });
        plan
    }
}

impl LoadedObjects {
    pub(crate) fn load_for_posts(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        page: Vec<Post>,
        selection: &FieldSelection,
    ) -> Result<Self, Fault> {
        let mut objects = Self::new(viewer, tx.now(), selection);
        objects.posts.extend_distinct(page, |post| post.id);
        objects.root_count = objects.posts.items().len();
        objects.load_reposted_posts(tx)?;
        objects.load_edit_versions(tx)?;
        let needs = objects.plan_post_expansions(selection, false);
        objects.load_planned(tx, selection, needs)?;
        Ok(objects)
    }

    /// Without what only fields of the API contain.
    pub(crate) fn load_for_pages(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        page: Vec<Post>,
        site: SiteLinks,
    ) -> Result<Self, Fault> {
        let mut selection = FieldSelection::defaults(ObjectKind::POST);
        selection.set_site(site);
        let mut objects = Self::new(viewer, tx.now(), &selection);
        objects.posts.extend_distinct(page, |post| post.id);
        objects.root_count = objects.posts.items().len();
        objects.load_reposted_posts(tx)?;
        let mut needs = LoadPlan::default();
        for post in objects.posts.items() {
            needs.users.extend(post.in_reply_to_user_id);
            needs.posts.extend(post.quoted_post_id);
            needs.polls.extend(post.poll_id);
        }
        objects.load_communities(tx)?;
        objects.load_planned(tx, &selection, needs)?;
        objects.subtitles = media::list_subtitles(tx, objects.media.items())?;
        objects.short_texts.clear();
        Ok(objects)
    }

    pub(crate) fn load_for_users(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        page: Vec<User>,
        selection: &FieldSelection,
    ) -> Result<Self, Fault> {
        let mut objects = Self::new(viewer, tx.now(), selection);
        objects.users.extend_distinct(page, |user| user.id);
        objects.root_count = objects.users.items().len();
        let roots = objects.users.items().iter().map(|user| UserRenderContext { user, objects: &objects });
        let needs = LoadPlan::new::<User>(selection, roots, false);
        objects.load_planned(tx, selection, needs)?;
        Ok(objects)
    }

    /// Loads users and the targets of the expansions of primary objects that are loaded already.
    pub(crate) fn load_for_objects<'a, T: RenderedObject>(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        users: Vec<User>,
        roots: impl Iterator<Item = T::Context<'a>> + Clone,
        selection: &FieldSelection,
    ) -> Result<Self, Fault> {
        let mut objects = Self::new(viewer, tx.now(), selection);
        objects.users.extend_distinct(users, |user| user.id);
        let needs = LoadPlan::new::<T>(selection, roots, false);
        let missing = objects.topics.missing_keys(needs.topics.iter().copied());
        if !missing.is_empty() {
            let topics = spaces::find_topics(tx, &missing)?;
            objects.topics.extend_distinct(topics, |topic| topic.id);
        }
        objects.load_planned(tx, selection, needs)?;
        Ok(objects)
    }

    pub(crate) fn load_for_media(
        tx: &mut Tx<'_>,
        viewer: Viewer,
        found: Vec<Media>,
        selection: &FieldSelection,
    ) -> Result<Self, Fault> {
        let mut objects = Self::new(viewer, tx.now(), selection);
        let owners: HashSet<_> = found.iter().map(|media| media.owner_id).collect();
        let owners: Vec<_> = owners.into_iter().collect();
        objects.media.extend_distinct(found, |media| media.id.get());
        objects.find_carrying_messages(tx)?;
        objects.load_playbacks(tx, selection)?;
        objects.users.extend_distinct(users::find_by_ids(tx, &owners)?, |user| user.id);
        Ok(objects)
    }

    /// Collects the keys for expansions of the primary posts, or of all posts loaded so far.
    fn plan_post_expansions(&self, selection: &FieldSelection, nested: bool) -> LoadPlan {
        let roots = if nested { usize::MAX } else { self.root_count };
        let posts = self.posts.items().iter().take(roots);
        LoadPlan::new::<Post>(selection, posts.map(|post| PostRenderContext { post, objects: self }), nested)
    }

    fn load_planned(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection, mut needs: LoadPlan) -> Result<(), Fault> {
        self.load_posts(tx, &needs.posts)?;
        self.load_reposted_posts(tx)?;
        self.load_edit_versions(tx)?;
        self.load_known_links(tx, selection)?;
        self.compute_texts();
        let nested = self.plan_post_expansions(selection, true);
        needs.users.extend(nested.users);
        needs.media.extend(nested.media);
        needs.users.extend(self.posts.items().iter().map(|post| post.author_id));
        self.load_card_links(tx)?;
        let shown = self.card_links.values().flatten();
        needs.media.extend(shown.filter_map(|link| id_from_media_key(&link.media_key)));
        // The text of a post with media ends with a link to them.
        let keys = self.posts.items().iter().flat_map(media_keys);
        needs.media.extend(keys.filter_map(id_from_media_key));
        self.load_users(tx, needs.users)?;
        let missing = self.media.missing_keys(needs.media);
        if !missing.is_empty() {
            self.media.extend_distinct(media::find_by_ids(tx, &missing)?, |media| media.id.get());
        }
        self.load_media_captions(tx, selection)?;
        self.load_polls_and_places(tx, needs.polls, needs.places)?;
        self.load_most_recent_posts(tx, selection)?;
        self.compute_hidden_posts(tx)?;
        self.load_promoted_totals(tx, selection)?;
        self.load_playbacks(tx, selection)?;
        self.load_viewer_relations(tx, selection)
    }

    /// Of the viewer's own media that are in no post.
    fn find_carrying_messages(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        for media in self.media.items() {
            if media.uses != Some(0) || self.viewer.user != Some(media.owner_id) {
                continue;
            }
            // Media that nothing uses are deleted by then.
            let end = first_snowflake_at(media.created_at.plus_ms(UNATTACHED_TTL_MS));
            if let Some(message) = messages::find_message_with_media(tx, media.owner_id, media.id, end)? {
                self.message_by_media.insert(media.id.get(), message);
            }
        }
        Ok(())
    }

    fn load_known_links(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection) -> Result<(), Fault> {
        let fields = selected_fields::<Post>(selection);
        if LINK_FIELDS.iter().any(|name| fields & Post::KIND.field_bit(name) != 0) {
            self.known_links = link_facts::load_for_posts(tx, self.posts.items().iter())?;
        }
        Ok(())
    }

    fn load_media_captions(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection) -> Result<(), Fault> {
        let media: Vec<MediaId> = self.media.items().iter().map(|media| media.id).collect();
        // The bit is searched by name, so only where there are media.
        if !media.is_empty() && selected_fields::<Post>(selection) & Post::KIND.field_bit("media_metadata") != 0 {
            self.media_captions = network::media::find_captions(tx, &media)?;
        }
        Ok(())
    }

    /// The text of a post with a card ends with the card's link.
    fn load_card_links(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let cards: HashSet<i64> = self.posts.items().iter().filter_map(card_id).collect();
        if cards.is_empty() {
            return Ok(());
        }
        let cards: Vec<i64> = cards.into_iter().collect();
        for link in card_links::list_by_cards(tx, &cards)? {
            self.card_links.entry(link.card_id).or_default().push(link);
        }
        Ok(())
    }

    fn load_polls_and_places(&mut self, tx: &mut Tx<'_>, polls: Vec<i64>, places: Vec<i64>) -> Result<(), Fault> {
        let missing = self.polls.missing_keys(polls);
        if !missing.is_empty() {
            self.polls.extend_distinct(polls::find_by_ids(tx, &missing)?, |poll| poll.id);
        }
        let missing = self.places.missing_keys(places);
        if !missing.is_empty() {
            self.places.extend_distinct(places::find_by_ids(tx, &missing)?, |index| index.id);
        }
        Ok(())
    }

    fn load_posts(&mut self, tx: &mut Tx<'_>, ids: &[PostId]) -> Result<(), Fault> {
        let missing = self.posts.missing_keys(ids.iter().copied());
        if !missing.is_empty() {
            self.posts.extend_distinct(posts::find_by_ids(tx, &missing)?, |post| post.id);
        }
        Ok(())
    }

    fn load_users(&mut self, tx: &mut Tx<'_>, ids: Vec<UserId>) -> Result<(), Fault> {
        let missing = self.users.missing_keys(ids);
        if !missing.is_empty() {
            self.users.extend_distinct(users::find_by_ids(tx, &missing)?, |user| user.id);
        }
        Ok(())
    }

    /// Their visibility decides whether users show them.
    fn load_most_recent_posts(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection) -> Result<(), Fault> {
        if selected_fields::<User>(selection) & User::KIND.field_bit("most_recent_post_id") == 0 {
            return Ok(());
        }
        let newest = self.users.items().iter().filter_map(|user| user.most_recent_post_id);
        self.load_posts(tx, &newest.collect::<Vec<_>>())?;
        self.load_reposted_posts(tx)?;
        let authors = self.posts.items().iter().map(|post| post.author_id);
        self.load_users(tx, authors.collect())
    }

    fn load_communities(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let posts = self.posts.items().iter();
        let missing = self.communities.missing_keys(posts.filter_map(|post| post.community_id));
        if !missing.is_empty() {
            self.communities.extend_distinct(communities::find_by_ids(tx, &missing)?, |community| community.id);
        }
        Ok(())
    }

    /// A repost is rendered from its original.
    fn load_reposted_posts(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let posts = self.posts.items().iter();
        let reposted: Vec<_> = posts.filter_map(|post| post.repost_of_id).collect();
        self.load_posts(tx, &reposted)
    }

    fn load_edit_versions(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        let roots = self.posts.items().iter().filter_map(|post| post.edit_root_id);
        let missing = sorted_distinct(roots.filter(|root| !self.edit_versions.contains_key(root)));
        if missing.is_empty() {
            return Ok(());
        }
        for (root, version) in posts::list_versions_of_roots(tx, &missing)? {
            self.edit_versions.entry(root).or_default().push(version);
        }
        Ok(())
    }

    fn load_promoted_totals(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection) -> Result<(), Fault> {
        let requested = selected_fields::<Post>(selection) & OWNER_ONLY;
        let Some(viewer) = self.viewer.user.filter(|_| requested != 0) else {
            return Ok(());
        };
        let own_posts = self.posts.items().iter();
        let own_posts = own_posts.filter(|post| post.author_id == viewer);
        let own_posts: Vec<i64> = own_posts.map(|post| post.id.get()).collect();
        self.load_organic_clicks(tx, &own_posts)?;
        for (id, sums, _) in ledger::total_sums_by_entity(tx, AdEntity::Post, &own_posts)? {
            self.promoted_totals.insert(PostId::new(id), sums);
        }
        let promoted: Vec<i64> = self.promoted_totals.keys().map(|id| id.get()).collect();
        for (id, sums, _) in ledger::total_sums_by_entity(tx, AdEntity::SimulatedPost, &promoted)? {
            self.simulated_totals.insert(PostId::new(id), sums);
        }
        if requested & Post::KIND.field_bit("promoted_metrics") == 0 {
            return Ok(());
        }
        let mut unseen = own_posts;
        unseen.retain(|id| !self.promoted_totals.contains_key(&PostId::new(*id)));
        // Those that are promoted have metrics without impressions too.
        for id in records::filter_field_values(tx, "promoted_post", "post_id", &unseen)? {
            self.promoted_totals.insert(PostId::new(id), MetricSums::default());
        }
        Ok(())
    }

    fn load_playbacks(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection) -> Result<(), Fault> {
        let films = self.media.items().iter().filter(|media| media.kind != "photo");
        let films: Vec<i64> = films.map(|media| media.id.get()).collect();
        if films.is_empty() || selected_fields::<Media>(selection) & metric_fields() == 0 {
            return Ok(());
        }
        let totals = playbacks::total_counts(tx, &films)?;
        self.playbacks.extend(totals.into_iter().map(|(counts, media)| (media, counts)));
        Ok(())
    }

    fn load_organic_clicks(&mut self, tx: &mut Tx<'_>, own_posts: &[i64]) -> Result<(), Fault> {
        let ids: Vec<PostId> = own_posts.iter().map(|id| PostId::new(*id)).collect();
        for (post, links, profiles) in views::total_clicks(tx, &ids)? {
            self.organic_clicks.insert(post, PostClicks { links, profiles });
        }
        Ok(())
    }

    /// The texts that are not rendered as stored.
    pub(crate) fn compute_texts(&mut self) {
        let (posts, site, known) = (self.posts.items().iter(), self.site, &self.known_links);
        self.full_texts.extend(posts.clone().filter_map(|post| Some((post.id, shorten_links(post, site, known)?))));
        let shorts =
            posts.filter_map(|post| Some((post.id, link_truncated_text(post, short_text(post)?, site, known))));
        self.short_texts.extend(shorts);
    }

    fn compute_hidden_posts(&mut self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        if self.posts.items().is_empty() {
            return Ok(());
        }
        let authors = sorted_distinct(self.posts.items().iter().map(|post| post.author_id));
        let authors = authors.into_iter().filter_map(|id| self.users.get(id));
        let mut sights = AuthorVisibilities::load(tx, self.viewer, authors)?;
        sights.admit_posts(tx, self.posts.items())?;
        let judge = |post: &Post| match post.state {
            // Only the id is known.
            PostState::Placeholder => Visibility::Missing,
            _ => sights.post_visibility(post),
        };
        for post in self.posts.items() {
            let sight = match (judge(post), post.repost_of_id) {
                (Visibility::Visible, Some(id)) => {
                    let original = self.posts.get(id).filter(|original| original.state != PostState::Placeholder);
                    match original.map(judge) {
                        // Imports contain the texts of reposts whose originals they lack.
                        None if !post.text.is_empty() => Visibility::Visible,
                        sight => sight.unwrap_or(Visibility::Missing),
                    }
                }
                (sight, _) => sight,
            };
            if sight != Visibility::Visible {
                self.hidden_posts.insert(post.id, sight);
            }
        }
        Ok(())
    }

    /// Does nothing unless a requested field depends on the viewer's relation to a user.
    fn load_viewer_relations(&mut self, tx: &mut Tx<'_>, selection: &FieldSelection) -> Result<(), Fault> {
        let requested = selected_fields::<User>(selection) & USERS_ONLY;
        let Some(viewer) = self.viewer.user.filter(|_| requested != 0) else {
            return Ok(());
        };
        let [ties, dms, subscription, subscribes] =
            ["connection_status", "receives_your_dm", "subscription", "subscribes_to_you"]
                .map(|name| requested & User::KIND.field_bit(name) != 0);
        let others = self.users.items().iter().map(|user| user.id);
        let others: Vec<_> = others.filter(|user| *user != viewer).collect();
        if ties || dms {
            self.relations.followed_by.extend(follows::filter_followers(tx, &others, viewer)?);
            self.relations.blocking.extend(graph::filter_blocked(tx, viewer, &others)?);
        }
        if subscription || subscribes {
            self.relations.subscribers.extend(subscriptions::filter_subscribers(tx, &others, viewer)?);
        }
        if dms {
            self.relations.blocked_by.extend(graph::filter_blockers(tx, &others, viewer)?);
            let closed = graph::filter_sources(tx, RelationKind::DmBlock, &others, viewer)?;
            self.relations.dm_blocked_by.extend(closed);
            self.relations.correspondents.extend(messages::filter_correspondents(tx, &others, viewer)?);
        }
        if ties {
            let received = graph::filter_sources(tx, RelationKind::Request, &others, viewer)?;
            self.relations.request_received.extend(received);
            let sent = graph::filter_targets(tx, RelationKind::Request, viewer, &others)?;
            self.relations.request_sent.extend(sent);
            self.relations.following.extend(follows::filter_followed(tx, viewer, &others)?);
            self.relations.muting.extend(graph::filter_muted(tx, viewer, &others)?);
        }
        Ok(())
    }
}

/// The fields of the objects of a type in the whole response.
fn selected_fields<T: RenderedObject>(selection: &FieldSelection) -> u64 {
    let root = if selection.is_root::<T>() { selection.root_mask::<T>() } else { 0 };
    root | selection.included_mask::<T>()
}
