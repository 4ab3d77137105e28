//! News: stories generated from posts about rising topics, and stories by operators.
//!
//! A generated story stores a topic and a selection of posts. All its texts are derived from those posts that are
//! public when it is read, so that no text outlives its post.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, Time, UserId};
use serde_json::json;
use store::news_stories::{self, NewsStory, NewsStoryDetails, NewsStoryState};
use store::posts::Post;
use store::{Tx, event_log, graph};

use crate::search_words::searched_words;
use crate::topics::{self, ComputedTrends, load_public_posts, significant_words, split_sentences};
use crate::visibility::Viewer;

/// Minimum lift of a topic, in thousandths.
const MIN_LIFT: i64 = 3_000;
/// Minimum number of authors of a topic, and of posts in a story.
const MIN_AUTHORS: usize = 3;
/// The newest posts about a topic, from which a story is selected.
const MAX_CANDIDATE_POSTS: i64 = 200;
const MAX_STORY_POSTS: usize = 10;
/// Stories per update.
const MAX_STORIES: usize = 50;
/// Characters of a headline.
const MAX_HEADLINE_LENGTH: usize = 100;
/// Characters of a summary.
const MAX_SUMMARY_LENGTH: usize = 1_000;
/// Keywords, and names per list of contexts.
const MAX_NAMES: usize = 8;
/// Indexed words per story.
const MAX_WORDS: usize = 2_000;
const DISCLAIMER: &str = "Put together from posts by a count of their words; nobody has checked it.";

/// A story by an operator.
#[derive(Clone, Debug, Default)]
pub struct NewNewsStory {
    /// 1–100 characters.
    pub name: String,
    /// At most 50 characters.
    pub category: String,
    /// The first sentence; at most 280 characters.
    pub hook: String,
    /// At most 1,000 characters.
    pub summary: String,
    /// At most 280 characters.
    pub disclaimer: String,
    /// At most ten public posts.
    pub post_ids: Vec<PostId>,
    pub publish: bool,
}

pub fn create(tx: &mut Tx<'_>, new: &NewNewsStory) -> Result<NewsStory, Error> {
    let bounds = [
        ("name", &new.name, MAX_HEADLINE_LENGTH),
        ("category", &new.category, 50),
        ("hook", &new.hook, 280),
        ("summary", &new.summary, MAX_SUMMARY_LENGTH),
        ("disclaimer", &new.disclaimer, 280),
    ];
    for (name, text, max) in bounds {
        if text.chars().count() > max {
            let message = format!("The `{name}` of a story has at most {max} characters");
            return Err(Refusal::invalid_parameter(name, text, message).into());
        }
    }
    if new.name.trim().is_empty() {
        return Err(Refusal::missing_parameter("name").into());
    }
    let found = load_public_posts(tx, &new.post_ids)?;
    let hidden = |id: &&PostId| !found.iter().any(|post| post.id == **id);
    if let Some(id) = new.post_ids.iter().find(hidden) {
        let message = format!("not everyone may see post [{id}]");
        return Err(Refusal::invalid_parameter("post", id, message).into());
    }
    if found.len() > MAX_STORY_POSTS {
        let message = format!("A story has at most {MAX_STORY_POSTS} posts");
        return Err(Refusal::invalid_parameter("post", found.len(), message).into());
    }
    let now = tx.now();
    let story = NewsStory {
        id: tx.next_id::<()>().get(),
        topic: String::new(),
        state: NewsStoryState::Draft,
        name: new.name.trim().to_owned(),
        category: new.category.clone(),
        hook: new.hook.clone(),
        summary: new.summary.clone(),
        disclaimer: new.disclaimer.clone(),
        post_ids: found.iter().map(|post| post.id).collect(),
        created_at: now,
        updated_at: now,
    };
    news_stories::upsert(tx, &story, &BTreeSet::new())?;
    if new.publish {
        return publish(tx, story.id);
    }
    Ok(story)
}

pub fn publish(tx: &mut Tx<'_>, id: i64) -> Result<NewsStory, Error> {
    let mut story = find(tx, id)?;
    if story.state != NewsStoryState::Draft {
        return Err(Refusal::forbidden("This story is published already.").into());
    }
    story.state = NewsStoryState::Published;
    story.updated_at = tx.now();
    let words = match render_story(tx, Viewer::anonymous(), &story)? {
        Some(details) => story_words(&details),
        None => BTreeSet::new(),
    };
    news_stories::upsert(tx, &story, &words)?;
    announce_story(tx, &story)?;
    Ok(story)
}

/// Indexes an imported story.
pub fn index_story(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    // Others may replace its words at the same time.
    news_stories::lock(tx, id)?;
    let Some(story) = news_stories::find_by_id(tx, id)? else {
        return Ok(());
    };
    if story.state != NewsStoryState::Published {
        return Ok(());
    }
    match render_story(tx, Viewer::anonymous(), &story)? {
        Some(details) => news_stories::index_words(tx, &story, &story_words(&details)),
        None => Ok(()),
    }
}

fn announce_story(tx: &mut Tx<'_>, story: &NewsStory) -> Result<(), Fault> {
    let body = json!({ "topic": story.topic }).to_string();
    event_log::append(tx, "news.new", 0, story.id, &body)
}

/// Deletes a story. A generated story stays without posts, so that no other is generated about its topic.
pub fn delete(tx: &mut Tx<'_>, id: i64) -> Result<NewsStory, Error> {
    let mut story = find(tx, id)?;
    if story.topic.is_empty() {
        story.state = NewsStoryState::Deleted;
    }
    story.post_ids.clear();
    story.updated_at = tx.now();
    news_stories::upsert(tx, &story, &BTreeSet::new())?;
    event_log::append(tx, "news.delete", 0, id, "")?;
    Ok(story)
}

/// Drafts included.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<NewsStory, Error> {
    let is_visible = |story: &NewsStory| story.state != NewsStoryState::Deleted && !is_withdrawn(story);
    let story = news_stories::find_by_id(tx, id)?.filter(is_visible);
    story.ok_or_else(|| Refusal::NotFound(ResourceRef::new("news", "id", id)).into())
}

fn is_withdrawn(story: &NewsStory) -> bool {
    !story.topic.is_empty() && story.post_ids.is_empty()
}

/// As rendered for a viewer.
pub fn find_published(tx: &mut Tx<'_>, viewer: Viewer, id: i64) -> Result<Option<NewsStoryDetails>, Fault> {
    match news_stories::find_by_id(tx, id)? {
        Some(story) if story.state == NewsStoryState::Published => render_story(tx, viewer, &story),
        _ => Ok(None),
    }
}

/// Candidates per query.
const SEARCH_BATCH: i64 = 100;
/// Queries per search.
const MAX_SEARCH_BATCHES: usize = 5;

/// Published stories updated at `from` or later that contain every word of the query, latest first.
pub fn search(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    query: &str,
    from: Time,
    limit: usize,
) -> Result<Vec<NewsStoryDetails>, Fault> {
    let query_words = searched_words(query);
    // The longest word leaves the fewest candidates.
    let Some(first) = query_words.iter().max_by_key(|word| word.chars().count()) else {
        return Ok(Vec::new());
    };
    let (mut found, mut below) = (Vec::new(), (Time::from_ms(i64::MAX), i64::MAX));
    for _ in 0..MAX_SEARCH_BATCHES {
        let batch = news_stories::list_by_word(tx, first, from, below, SEARCH_BATCH)?;
        let Some(last) = batch.last() else {
            break;
        };
        below = (last.updated_at, last.id);
        for story in batch {
            if found.len() >= limit {
                return Ok(found);
            }
            // The texts may have changed since the story was indexed.
            if let Some(details) = render_story(tx, viewer, &story)?
                && query_words.is_subset(&story_words(&details))
            {
                found.push(details);
            }
        }
    }
    Ok(found)
}

fn story_words(details: &NewsStoryDetails) -> BTreeSet<String> {
    let mut text = [details.name.as_str(), &details.category, &details.hook, &details.summary].join(" ");
    for names in [&details.keywords, &details.topics, &details.mentioned_usernames, &details.tickers] {
        for name in names {
            text.push(' ');
            text.push_str(name);
        }
    }
    searched_words(&text).into_iter().take(MAX_WORDS).collect()
}

/// Derives a story's texts from its posts; none if too few posts are left. Posts whose authors block the viewer are
/// left out.
fn render_story(tx: &mut Tx<'_>, viewer: Viewer, story: &NewsStory) -> Result<Option<NewsStoryDetails>, Fault> {
    let mut posts = load_public_posts(tx, &story.post_ids)?;
    if let Some(user) = viewer.user {
        let authors: Vec<UserId> = posts.iter().map(|post| post.author_id).collect();
        let blockers = graph::filter_blockers(tx, &authors, user)?;
        posts.retain(|post| !blockers.contains(&post.author_id));
    }
    let mut details = NewsStoryDetails {
        id: story.id,
        name: story.name.clone(),
        category: story.category.clone(),
        hook: story.hook.clone(),
        summary: story.summary.clone(),
        keywords: top_keywords(&posts),
        topics: top_tags(&posts, '#'),
        mentioned_usernames: top_mentions(&posts),
        tickers: top_tags(&posts, '$'),
        post_ids: posts.iter().map(|post| post.id).collect(),
        disclaimer: story.disclaimer.clone(),
        updated_at: story.updated_at,
    };
    if story.topic.is_empty() {
        if posts.is_empty() {
            let text = [story.name.as_str(), &story.summary].join(" ");
            details.keywords = significant_words(&text).into_iter().take(MAX_NAMES).collect();
        }
        return Ok(Some(details));
    }
    if posts.len() < MIN_AUTHORS {
        return Ok(None);
    }
    let finance = story.topic.starts_with('$');
    let category = if finance { "Finance" } else { "News" };
    category.clone_into(&mut details.category);
    DISCLAIMER.clone_into(&mut details.disclaimer);
    compose_from_posts(&mut details, &posts, &story.topic);
    Ok(Some(details))
}

/// Headline, hook and summary from the sentences of the posts, in order and without repetition.
fn compose_from_posts(details: &mut NewsStoryDetails, posts: &[Post], topic: &str) {
    let mut seen = HashSet::new();
    let all = posts.iter().flat_map(|post| split_sentences(&post.text));
    let mut rest = all.filter(|sentence| seen.insert(sentence.to_lowercase()));
    details.name = truncate_headline(&rest.next().unwrap_or_else(|| topic.to_owned()));
    details.hook = rest.next().unwrap_or_default();
    let mut summary = details.hook.clone();
    for sentence in rest {
        if summary.chars().count() + sentence.chars().count() >= MAX_SUMMARY_LENGTH {
            break;
        }
        if !summary.is_empty() {
            summary.push(' ');
        }
        summary.push_str(&sentence);
    }
    details.summary = if summary.is_empty() { details.name.clone() } else { summary };
}

fn truncate_headline(sentence: &str) -> String {
    if sentence.chars().count() <= MAX_HEADLINE_LENGTH {
        return sentence.to_owned();
    }
    let start: String = sentence.chars().take(MAX_HEADLINE_LENGTH - 1).collect();
    let end = start.rfind(char::is_whitespace).unwrap_or(start.len());
    format!("{}…", start.get(..end).unwrap_or(&start).trim_end())
}

/// Words that occur in at least two posts, most frequent first.
fn top_keywords(posts: &[Post]) -> Vec<String> {
    let all = posts.iter().flat_map(|post| significant_words(&post.text));
    let mut counted = count_by_frequency(all);
    counted.retain(|(_, count)| *count >= 2 || posts.len() == 1);
    counted.into_iter().map(|(word, _)| word).take(MAX_NAMES).collect()
}

/// Most frequent first.
fn count_by_frequency(all: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// Hashtags or cashtags without their sign, most frequent first.
fn top_tags(posts: &[Post], sign: char) -> Vec<String> {
    let all = posts.iter().flat_map(|post| topics::extract_topics(&post.text));
    let all = all.filter_map(|topic| topic.strip_prefix(sign).map(str::to_owned));
    count_by_frequency(all).into_iter().map(|(name, _)| name).take(MAX_NAMES).collect()
}

/// Most frequent first.
fn top_mentions(posts: &[Post]) -> Vec<String> {
    let all = posts.iter().flat_map(|post| {
        let found = base::text::extract_entities(&post.text).mentions;
        let names: BTreeSet<String> = found.into_iter().map(|name| name.text).collect();
        names
    });
    count_by_frequency(all).into_iter().map(|(name, _)| name).take(MAX_NAMES).collect()
}

/// Computed trends and stories, not stored yet.
#[derive(Clone, Debug)]
pub struct NewsUpdate {
    trending: ComputedTrends,
    /// Topics whose stories have new posts, with these posts.
    due_stories: Vec<(String, Vec<PostId>)>,
}

impl NewsUpdate {
    pub const fn trend_count(&self) -> usize {
        self.trending.trends.len()
    }

    pub const fn is_unchanged(&self) -> bool {
        !self.trending.is_new && self.due_stories.is_empty()
    }
}

/// Computes trends and due stories, without storing them.
///
/// Stories are generated about the topics that rise most, with a lift of at least 3 and three authors. A story has
/// posts of different authors from the newest of the last day, most central first: those that share most words with
/// the others.
pub fn compute_update(tx: &mut Tx<'_>) -> Result<NewsUpdate, Fault> {
    let rising = topics::find_rising_topics(tx)?;
    let trending = topics::compute_trends(tx, &rising)?;
    let mut due = Vec::new();
    let candidates = rising.iter().filter(|rise| rise.lift >= MIN_LIFT);
    for rise in candidates.take(MAX_STORIES) {
        if usize::try_from(rise.authors).unwrap_or(0) >= MIN_AUTHORS {
            due.extend(choose_story_posts(tx, &rise.topic)?.map(|posts| (rise.topic.clone(), posts)));
        }
    }
    Ok(NewsUpdate { trending, due_stories: due })
}

/// The current posts for a topic's story; none if they are unchanged or too few.
fn choose_story_posts(tx: &mut Tx<'_>, topic: &str) -> Result<Option<Vec<PostId>>, Fault> {
    let newest = store::topics::list_newest_posts(tx, topic, MAX_CANDIDATE_POSTS)?;
    let day = topics::hour_number(tx.now()) - 24;
    let mut posts = load_public_posts(tx, &newest)?;
    posts.retain(|post| topics::hour_number(post.created_at) > day);
    let posts = rank_central_posts(posts);
    let story = news_stories::find_by_topic(tx, topic)?;
    Ok((posts.len() >= MIN_AUTHORS && is_due(story.as_ref(), &posts)).then_some(posts))
}

fn is_due(story: Option<&NewsStory>, posts: &[PostId]) -> bool {
    story.is_none_or(|story| !is_withdrawn(story) && story.post_ids != posts)
}

/// Stores an update; returns how many stories changed. Serializes concurrent nodes.
pub fn store_update(tx: &mut Tx<'_>, update: &NewsUpdate) -> Result<usize, Fault> {
    topics::TOPICS_READER.claim_cursor(tx)?;
    if update.trending.is_new {
        store::topics::replace_trends(tx, &update.trending.trends)?;
    }
    let mut changed = 0;
    for (topic, posts) in &update.due_stories {
        if update_story(tx, topic, posts)? {
            changed += 1;
        }
    }
    Ok(changed)
}

/// Creates or updates a topic's story.
fn update_story(tx: &mut Tx<'_>, topic: &str, posts: &[PostId]) -> Result<bool, Fault> {
    let before = news_stories::find_by_topic(tx, topic)?;
    if !is_due(before.as_ref(), posts) {
        return Ok(false);
    }
    let now = tx.now();
    let is_new = before.is_none();
    let mut story = before.unwrap_or_else(|| NewsStory {
        id: tx.next_id::<()>().get(),
        topic: topic.to_owned(),
        state: NewsStoryState::Published,
        name: String::new(),
        category: String::new(),
        hook: String::new(),
        summary: String::new(),
        disclaimer: String::new(),
        post_ids: Vec::new(),
        created_at: now,
        updated_at: now,
    });
    posts.clone_into(&mut story.post_ids);
    story.updated_at = now;
    let Some(details) = render_story(tx, Viewer::anonymous(), &story)? else {
        return Ok(false);
    };
    news_stories::upsert(tx, &story, &story_words(&details))?;
    if is_new {
        announce_story(tx, &story)?;
    }
    Ok(true)
}

/// The most central posts, one per author: ranked by the sum of the Jaccard similarity of their words with all other
/// posts, then by engagement, then oldest first.
fn rank_central_posts(posts: Vec<Post>) -> Vec<PostId> {
    let posts_with_words: Vec<(Post, BTreeSet<String>)> = posts
        .into_iter()
        .map(|post| {
            let words = significant_words(&post.text);
            (post, words)
        })
        .collect();
    let mut ranked: Vec<(usize, i64, &Post)> = Vec::with_capacity(posts_with_words.len());
    for (post, words) in &posts_with_words {
        let others = posts_with_words.iter().filter(|(other, _)| other.id != post.id);
        let shares = others.map(|(_, other)| {
            let shared = words.intersection(other).count();
            1_000 * shared / (words.len() + other.len() - shared).max(1)
        });
        let engagements = post.like_count + post.repost_count + post.reply_count + post.quote_count;
        ranked.push((shares.sum(), engagements, post));
    }
    ranked.sort_by_key(|(share, engagements, post)| (std::cmp::Reverse((*share, *engagements)), post.id));
    let mut authors: HashSet<UserId> = HashSet::new();
    let chosen = ranked.into_iter().map(|(_, _, post)| post);
    let chosen = chosen.filter(|post| authors.insert(post.author_id));
    chosen.map(|post| post.id).take(MAX_STORY_POSTS).collect()
}
