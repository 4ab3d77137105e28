//! News: stories that the platform makes from posts about topics that rise, and stories that
//! operators write.
//!
//! A story of the platform holds a topic and a choice of posts. Every word it shows is taken from
//! those of them that everyone may see at the moment it is told, so that nothing outlives its post.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, Time, UserId};
use serde_json::json;
use store::news_stories::{self, NewsStory, NewsStoryDetails, NewsStoryState};
use store::posts::Post;
use store::{Tx, event_log, graph, topics as stored};

use crate::topics::{self, ComputedTrends, load_public_posts, significant_words, split_sentences, split_words};
use crate::visibility::Viewer;

/// How far a topic must be above what is usual, in thousandths.
const MIN_LIFT: i64 = 3_000;
/// How many must write about it, and about how many of them a story tells at least.
const MIN_AUTHORS: usize = 3;
/// Posts about a topic that a story is chosen from: the newest.
const MAX_CANDIDATE_POSTS: i64 = 200;
/// Posts of a story.
const MAX_STORY_POSTS: usize = 10;
/// Topics that stories are made about at once.
const MAX_STORIES: usize = 50;
/// Letters of a headline.
const NAME: usize = 100;
/// Letters of a summary.
const SUMMARY: usize = 1_000;
/// Keywords, and names in each list of contexts.
const NAMES: usize = 8;
/// Words that a story is found by.
const WORDS: usize = 200;
const DISCLAIMER: &str = "Put together from posts by a count of their words; nobody has checked it.";

/// What an operator writes.
#[derive(Clone, Debug, Default)]
pub struct NewNewsStory {
    /// Its headline: 1–100 characters.
    pub name: String,
    /// Its category: at most 50.
    pub category: String,
    /// Its first sentence: at most 280.
    pub hook: String,
    /// What happened: at most 1,000.
    pub summary: String,
    /// A word of caution: at most 280.
    pub disclaimer: String,
    /// Posts that it is about: at most ten that everyone may see.
    pub post_ids: Vec<PostId>,
    /// Whether everyone sees it at once.
    pub publish: bool,
}

/// Writes a story.
pub fn create(tx: &mut Tx<'_>, new: &NewNewsStory) -> Result<NewsStory, Error> {
    let bounds = [
        ("name", &new.name, NAME),
        ("category", &new.category, 50),
        ("hook", &new.hook, 280),
        ("summary", &new.summary, SUMMARY),
        ("disclaimer", &new.disclaimer, 280),
    ];
    for (name, text, most) in bounds {
        if text.chars().count() > most {
            let message = format!("The `{name}` of a story has at most {most} characters");
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

/// Shows a draft to everyone.
pub fn publish(tx: &mut Tx<'_>, id: i64) -> Result<NewsStory, Error> {
    let mut story = find(tx, id)?;
    if story.state != NewsStoryState::Draft {
        return Err(Refusal::forbidden("This story is published already.").into());
    }
    story.state = NewsStoryState::Published;
    story.updated_at = tx.now();
    let words = match render_story(tx, Viewer::anonymous(), &story)? {
        Some(told) => search_words(&told),
        None => BTreeSet::new(),
    };
    news_stories::upsert(tx, &story, &words)?;
    announce_story(tx, &story)?;
    Ok(story)
}

/// Lets a story that came from elsewhere be found by its words.
pub fn index_story(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    let Some(story) = news_stories::find_by_id(tx, id)? else {
        return Ok(());
    };
    if story.state != NewsStoryState::Published {
        return Ok(());
    }
    match render_story(tx, Viewer::anonymous(), &story)? {
        Some(told) => news_stories::upsert(tx, &story, &search_words(&told)),
        None => Ok(()),
    }
}

fn announce_story(tx: &mut Tx<'_>, story: &NewsStory) -> Result<(), Fault> {
    let body = json!({ "topic": story.topic }).to_string();
    event_log::append(tx, "news.new", 0, story.id, &body)
}

/// Takes a story away. Of one that the platform made no other is made about its topic: it stays,
/// without posts.
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

/// The story with an id, a draft too.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<NewsStory, Error> {
    let there = |story: &NewsStory| story.state != NewsStoryState::Deleted && !is_withdrawn(story);
    let story = news_stories::find_by_id(tx, id)?.filter(there);
    story.ok_or_else(|| Refusal::NotFound(ResourceRef::new("news", "id", id)).into())
}

fn is_withdrawn(story: &NewsStory) -> bool {
    !story.topic.is_empty() && story.post_ids.is_empty()
}

/// The published story with an id, as it is told to a viewer.
pub fn find_published(tx: &mut Tx<'_>, viewer: Viewer, id: i64) -> Result<Option<NewsStoryDetails>, Fault> {
    match news_stories::find_by_id(tx, id)? {
        Some(story) if story.state == NewsStoryState::Published => render_story(tx, viewer, &story),
        _ => Ok(None),
    }
}

/// Stories that are looked at in one go.
const BATCH: i64 = 100;
/// Goes of one search.
const MAX_SEARCH_BATCHES: usize = 5;

/// The published stories that changed from a moment on and hold every word of a query, the latest
/// change first.
pub fn search(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    query: &str,
    from: Time,
    limit: usize,
) -> Result<Vec<NewsStoryDetails>, Fault> {
    let asked: BTreeSet<String> = split_words(query).collect();
    // The longest word leaves the fewest candidates.
    let Some(first) = asked.iter().max_by_key(|word| word.chars().count()) else {
        return Ok(Vec::new());
    };
    let (mut found, mut below) = (Vec::new(), (Time::from_ms(i64::MAX), i64::MAX));
    for _ in 0..MAX_SEARCH_BATCHES {
        let batch = news_stories::list_by_word(tx, first, from, below, BATCH)?;
        let Some(last) = batch.last() else {
            break;
        };
        below = (last.updated_at, last.id);
        for story in batch {
            if found.len() >= limit {
                return Ok(found);
            }
            // What it says now, not what it said when it was indexed.
            if let Some(told) = render_story(tx, viewer, &story)?
                && asked.is_subset(&search_words(&told))
            {
                found.push(told);
            }
        }
    }
    Ok(found)
}

fn search_words(told: &NewsStoryDetails) -> BTreeSet<String> {
    let mut text = [told.name.as_str(), &told.category, &told.hook, &told.summary].join(" ");
    for names in [&told.keywords, &told.topics, &told.mentioned_usernames, &told.tickers] {
        for name in names {
            text.push(' ');
            text.push_str(name);
        }
    }
    let all: BTreeSet<String> = split_words(&text).collect();
    all.into_iter().take(WORDS).collect()
}

/// A story in its posts' words; none when too few of them are left. Whoever is blocked by an author
/// is told it without that author's.
fn render_story(tx: &mut Tx<'_>, viewer: Viewer, story: &NewsStory) -> Result<Option<NewsStoryDetails>, Fault> {
    let mut posts = load_public_posts(tx, &story.post_ids)?;
    if let Some(user) = viewer.user {
        let authors: Vec<UserId> = posts.iter().map(|post| post.author_id).collect();
        let blockers = graph::filter_blockers(tx, &authors, user)?;
        posts.retain(|post| !blockers.contains(&post.author_id));
    }
    let mut told = NewsStoryDetails {
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
            told.keywords = significant_words(&text).into_iter().take(NAMES).collect();
        }
        return Ok(Some(told));
    }
    if posts.len() < MIN_AUTHORS {
        return Ok(None);
    }
    let finance = story.topic.starts_with('$');
    let category = if finance { "Finance" } else { "News" };
    category.clone_into(&mut told.category);
    DISCLAIMER.clone_into(&mut told.disclaimer);
    compose_from_posts(&mut told, &posts, &story.topic);
    Ok(Some(told))
}

/// Headline, hook and summary, in the order of the posts: each sentence once.
fn compose_from_posts(told: &mut NewsStoryDetails, posts: &[Post], topic: &str) {
    let mut seen = HashSet::new();
    let all = posts.iter().flat_map(|post| split_sentences(&post.text));
    let mut rest = all.filter(|sentence| seen.insert(sentence.to_lowercase()));
    told.name = truncate_headline(&rest.next().unwrap_or_else(|| topic.to_owned()));
    told.hook = rest.next().unwrap_or_default();
    let mut summary = told.hook.clone();
    for sentence in rest {
        if summary.chars().count() + sentence.chars().count() >= SUMMARY {
            break;
        }
        if !summary.is_empty() {
            summary.push(' ');
        }
        summary.push_str(&sentence);
    }
    told.summary = if summary.is_empty() { told.name.clone() } else { summary };
}

fn truncate_headline(sentence: &str) -> String {
    if sentence.chars().count() <= NAME {
        return sentence.to_owned();
    }
    let start: String = sentence.chars().take(NAME - 1).collect();
    let end = start.rfind(char::is_whitespace).unwrap_or(start.len());
    format!("{}…", start.get(..end).unwrap_or(&start).trim_end())
}

/// The words that most posts have, at least two of them.
fn top_keywords(posts: &[Post]) -> Vec<String> {
    let all = posts.iter().flat_map(|post| significant_words(&post.text));
    let mut counted = count_by_frequency(all);
    counted.retain(|(_, count)| *count >= 2 || posts.len() == 1);
    counted.into_iter().map(|(word, _)| word).take(NAMES).collect()
}

/// How often each is there, the most frequent first.
fn count_by_frequency(all: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// Hashtags or cashtags of posts, without their sign, the most frequent first.
fn top_tags(posts: &[Post], sign: char) -> Vec<String> {
    let all = posts.iter().flat_map(|post| topics::extract_topics(&post.text));
    let all = all.filter_map(|topic| topic.strip_prefix(sign).map(str::to_owned));
    count_by_frequency(all)
        .into_iter()
        .map(|(name, _)| name)
        .take(NAMES)
        .collect()
}

/// Who is mentioned, the most frequent first.
fn top_mentions(posts: &[Post]) -> Vec<String> {
    let all = posts.iter().flat_map(|post| {
        let found = base::text::extract_entities(&post.text).mentions;
        let names: BTreeSet<String> = found.into_iter().map(|name| name.text).collect();
        names
    });
    count_by_frequency(all)
        .into_iter()
        .map(|(name, _)| name)
        .take(NAMES)
        .collect()
}

/// What the posts of the last hours come to, worked out and not yet stored.
#[derive(Clone, Debug)]
pub struct NewsUpdate {
    trending: ComputedTrends,
    /// Topics whose stories have other posts now, with these.
    due_stories: Vec<(String, Vec<PostId>)>,
}

impl NewsUpdate {
    /// How many topics trend.
    pub const fn trend_count(&self) -> usize {
        self.trending.trends.len()
    }

    /// Nothing is to be stored.
    pub const fn is_unchanged(&self) -> bool {
        !self.trending.is_new && self.due_stories.is_empty()
    }
}

/// Works out what trends, and which stories are due; nothing is stored.
///
/// A story is made about each of the topics that rise most. It needs a lift of 3 and three
/// authors. Its posts are of different authors, chosen from the newest about the topic of the last
/// day, the most central first: those that share most words with the others.
pub fn compute_update(tx: &mut Tx<'_>) -> Result<NewsUpdate, Fault> {
    let rising = topics::find_rising_topics(tx)?;
    let trending = topics::compute_trends(tx, &rising)?;
    let mut due = Vec::new();
    let strong = rising.iter().filter(|rise| rise.lift >= MIN_LIFT);
    for rise in strong.take(MAX_STORIES) {
        if usize::try_from(rise.authors).unwrap_or(0) >= MIN_AUTHORS {
            due.extend(choose_story_posts(tx, &rise.topic)?.map(|posts| (rise.topic.clone(), posts)));
        }
    }
    Ok(NewsUpdate {
        trending,
        due_stories: due,
    })
}

/// The posts that a topic's story has now; none where it has them already or there is no story.
fn choose_story_posts(tx: &mut Tx<'_>, topic: &str) -> Result<Option<Vec<PostId>>, Fault> {
    let newest = stored::list_newest_posts(tx, topic, MAX_CANDIDATE_POSTS)?;
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

/// Stores what was worked out; how many stories changed. Where several nodes have worked it out,
/// one stores after the other.
pub fn store_update(tx: &mut Tx<'_>, outlook: &NewsUpdate) -> Result<usize, Fault> {
    stored::claim_cursor(tx, topics::TOPICS_READER)?;
    if outlook.trending.is_new {
        stored::replace_trends(tx, &outlook.trending.trends)?;
    }
    let mut changed = 0;
    for (topic, posts) in &outlook.due_stories {
        if update_story(tx, topic, posts)? {
            changed += 1;
        }
    }
    Ok(changed)
}

/// Makes a topic's story, or has it take other posts on.
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
    let Some(told) = render_story(tx, Viewer::anonymous(), &story)? else {
        return Ok(false);
    };
    news_stories::upsert(tx, &story, &search_words(&told))?;
    if is_new {
        announce_story(tx, &story)?;
    }
    Ok(true)
}

/// The posts that share most words with the others, one an author: the sum over the others of the
/// shared words' part in all words of the two; among equals those that were acted on most, then
/// the older.
fn rank_central_posts(posts: Vec<Post>) -> Vec<PostId> {
    let worded: Vec<(Post, BTreeSet<String>)> = posts
        .into_iter()
        .map(|post| {
            let words = significant_words(&post.text);
            (post, words)
        })
        .collect();
    let mut ranked: Vec<(usize, i64, &Post)> = Vec::with_capacity(worded.len());
    for (post, words) in &worded {
        let others = worded.iter().filter(|(other, _)| other.id != post.id);
        let shares = others.map(|(_, other)| {
            let shared = words.intersection(other).count();
            1_000 * shared / (words.len() + other.len() - shared).max(1)
        });
        let acts = post.like_count + post.repost_count + post.reply_count + post.quote_count;
        ranked.push((shares.sum(), acts, post));
    }
    ranked.sort_by_key(|(share, acts, post)| (std::cmp::Reverse((*share, *acts)), post.id));
    let mut authors: HashSet<UserId> = HashSet::new();
    let chosen = ranked.into_iter().map(|(_, _, post)| post);
    let chosen = chosen.filter(|post| authors.insert(post.author_id));
    chosen.map(|post| post.id).take(MAX_STORY_POSTS).collect()
}
