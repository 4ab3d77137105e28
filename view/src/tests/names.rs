//! The names that requests may use, against the lists of both published generations.

use base::{Refusal, Vocabulary};

use super::wants;
use crate::Object;
use crate::{Json, Wants, When};

const OFFICIAL: &[(Object, &str)] = &[
    (
        Object::Post,
        "article article_title attachments card_uri community_id context_annotations conversation_id created_at display_text_range edit_controls entities geo id lang matched_media_notes media_metadata non_public_metrics note_post note_request_suggestions organic_metrics paid_partnership possibly_sensitive promoted_metrics public_metrics reply_settings scopes source suggested_source_links suggested_source_links_with_counts text withheld",
    ),
    (
        Object::Post,
        "article attachments author_id card_uri community_id context_annotations conversation_id created_at display_text_range edit_controls edit_history_tweet_ids entities geo id in_reply_to_user_id lang matched_media_notes media_metadata non_public_metrics note_request_suggestions note_tweet organic_metrics paid_partnership possibly_sensitive promoted_metrics public_metrics referenced_tweets reply_settings scopes source suggested_source_links suggested_source_links_with_counts text withheld",
    ),
    (
        Object::User,
        "affiliation confirmed_email connection_status created_at description entities id is_identity_verified location most_recent_tweet_id name parody pinned_tweet_id profile_banner_url profile_image_url protected public_metrics receives_your_dm subscribes_to_you subscription subscription_type url username verified verified_followers_count verified_type withheld",
    ),
    (
        Object::Media,
        "alt_text duration_ms height media_key non_public_metrics organic_metrics preview_image_url promoted_metrics public_metrics type url variants width",
    ),
    (
        Object::Poll,
        "duration_minutes end_datetime id options voting_status",
    ),
    (
        Object::Place,
        "contained_within country country_code full_name geo id name place_type",
    ),
    (
        Object::List,
        "created_at description follower_count id member_count name owner_id private",
    ),
    (
        Object::Space,
        "created_at creator_id ended_at host_ids id invited_user_ids is_ticketed lang participant_count scheduled_start speaker_ids started_at state subscriber_count title topic_ids updated_at",
    ),
    (Object::Topic, "description id name"),
    (
        Object::DmEvent,
        "attachments created_at dm_conversation_id entities event_type id participant_ids referenced_tweets sender_id text",
    ),
    (
        Object::Community,
        "access created_at description id join_policy member_count name",
    ),
    (
        Object::News,
        "category cluster_posts_results contexts disclaimer hook id keywords name summary updated_at rest_id last_updated_at_ms",
    ),
    (Object::Note, "id info scoring_status status test_result"),
    (Object::Trend, "trend_name tweet_count"),
    (
        Object::PersonalizedTrend,
        "category post_count trend_name trending_since",
    ),
    (
        Object::Usage,
        "cap_reset_day daily_client_app_usage daily_project_usage project_cap project_id project_usage",
    ),
    (
        Object::Connection,
        "client_ip connected_at disconnect_reason disconnected_at endpoint_name id",
    ),
    (
        Object::ComplianceJob,
        "created_at download_expires_at download_url id name resumable status type upload_expires_at upload_url",
    ),
    (
        Object::RulesCount,
        "all_project_client_apps cap_per_client_app cap_per_project client_app_rules_count project_rules_count",
    ),
    (Object::SearchCount, "end start tweet_count"),
    (Object::Like, "created_at id liked_tweet_id timestamp_ms"),
];

const OFFICIAL_EXPANSIONS: &[(Object, &str)] = &[
    (
        Object::Post,
        "article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet attachments.poll_ids author_id edit_history_post_ids entities.mentions.username geo.place_id in_reply_to_user_id referenced_posts username",
    ),
    (
        Object::Post,
        "article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet attachments.poll_ids author_id edit_history_tweet_ids entities.mentions.username geo.place_id in_reply_to_user_id entities.note.mentions.username referenced_tweets.id referenced_tweets.id.attachments.media_keys referenced_tweets.id.author_id",
    ),
    (
        Object::User,
        "affiliation most_recent_post_id pinned_post_id affiliation.user_id most_recent_tweet_id pinned_tweet_id",
    ),
    (Object::List, "owner_id"),
    (
        Object::Space,
        "creator_id host_ids invited_user_ids speaker_ids topic_ids",
    ),
    (
        Object::DmEvent,
        "attachments.media_keys participant_ids referenced_posts referenced_tweets.id sender_id",
    ),
    (
        Object::Like,
        "attachments.media_keys liked_tweet_author_id liked_tweet_id",
    ),
];

/// Images of names that one generation lacks: taken, though no list has them.
const OURS: &[&str] = &[
    "author_id",
    "edit_history_post_ids",
    "in_reply_to_user_id",
    "referenced_posts",
    "pinned_post_id",
    "most_recent_post_id",
    "post_count",
    "liked_post_id",
    "liked_post_author_id",
    "tweet_author_id",
];

#[test]
fn every_official_name_is_taken_and_hardly_any_other() {
    for object in Object::ALL {
        for (official, names) in [
            (OFFICIAL, object.field_names()),
            (OFFICIAL_EXPANSIONS, object.expansion_names()),
        ] {
            let lists = official.iter().filter(|(of, _)| *of == object);
            let listed: Vec<&str> = lists.flat_map(|(_, list)| list.split(' ')).collect();
            for name in &listed {
                assert!(names.contains(name), "{object:?} lacks {name}");
            }
            for name in names {
                assert!(
                    listed.contains(&name) || OURS.contains(&name),
                    "{object:?}: {name}"
                );
            }
        }
    }
}

#[test]
fn a_table_fits_its_bits_and_has_no_name_twice() {
    for object in Object::ALL {
        assert_eq!(Object::ALL[object.number()], object);
        assert!(object.fields().len() <= 64 && object.expansions().len() <= 32);
        for speech in [Vocabulary::Post, Vocabulary::Tweet] {
            let mut names: Vec<_> = object
                .fields()
                .iter()
                .map(|field| field.name.name_in(speech))
                .collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{object:?}");
            assert!(!names.contains(&""));
        }
        for expansion in object.expansions() {
            let start = if expansion.nested {
                Object::Post
            } else {
                object
            };
            assert_ne!(
                crate::wants::bit_of(start, expansion.field),
                0,
                "{}",
                expansion.field
            );
        }
        assert!(
            object
                .fields()
                .iter()
                .any(|field| field.when == When::Always)
        );
        for field in object.fields() {
            assert!(field.about.ends_with('.'), "{}", field.about);
            assert!(
                !matches!(field.json, Json::OneOf([])),
                "{}",
                field.name.post
            );
        }
    }
}

fn refusal(result: Result<(), Refusal>) -> Vec<(String, String)> {
    let Err(Refusal::InvalidParameters(wrongs)) = result else {
        panic!("{result:?}");
    };
    let wrongs = wrongs.into_iter();
    wrongs
        .map(|wrong| {
            (
                format!("{} {:?}", wrong.parameter, wrong.values),
                wrong.message,
            )
        })
        .collect()
}

#[test]
fn unknown_names_are_refused_with_the_list() {
    let topics =
        "The `topic.fields` query parameter value [{}] is not one of [description,id,name]";
    for (value, wrong) in [
        ("x", vec!["x"]),
        ("", vec![""]),
        ("id,Name,x", vec!["Name", "x"]),
        ("id,", vec![""]),
        (" id", vec![" id"]),
    ] {
        let mut wants = Wants::defaults(Object::Space);
        let result = refusal(wants.ask_fields(Object::Topic, "topic.fields", value));
        let expected = wrong.iter().map(|name| {
            (
                format!("topic.fields {:?}", [name]),
                topics.replace("{}", name),
            )
        });
        assert_eq!(result, expected.collect::<Vec<_>>(), "{value}");
    }
    let mut wants = Wants::defaults(Object::User);
    let (about, message) = refusal(wants.ask_expansions("expansions", "author_id")).remove(0);
    assert_eq!(about, "expansions [\"author_id\"]");
    assert_eq!(
        message,
        "The `expansions` query parameter value [author_id] is not one of [affiliation,\
         affiliation.user_id,most_recent_post_id,most_recent_tweet_id,pinned_post_id,pinned_tweet_id]"
    );
    let mut wants = Wants::defaults(Object::Post);
    let (_, message) =
        refusal(wants.ask_fields(Object::Post, "tweet.fields", "username")).remove(0);
    assert!(message.starts_with(
        "The `tweet.fields` query parameter value [username] is not one of [article,"
    ));
    // A list has no expansions but its owner; a poll none at all.
    assert!(
        Wants::defaults(Object::Poll)
            .ask_expansions("expansions", "id")
            .is_err()
    );
}

#[test]
fn names_give_their_vocabulary_away() {
    let told = |root, asked: &[(Object, &str, &str)], expansions: &str| {
        let mut wants = Wants::defaults(root);
        for (object, parameter, names) in asked {
            wants.ask_fields(*object, parameter, names).unwrap();
        }
        if !expansions.is_empty() {
            wants.ask_expansions("expansions", expansions).unwrap();
        }
        wants.betrayed()
    };
    assert_eq!(told(Object::Post, &[], ""), None);
    assert_eq!(
        told(Object::Post, &[(Object::Post, "post.fields", "lang")], ""),
        Some(Vocabulary::Post)
    );
    assert_eq!(
        told(Object::Post, &[(Object::Post, "tweet.fields", "lang")], ""),
        Some(Vocabulary::Tweet)
    );
    assert_eq!(
        told(
            Object::Post,
            &[(Object::Media, "media.fields", "url")],
            "author_id"
        ),
        None
    );
    assert_eq!(
        told(
            Object::User,
            &[(Object::User, "user.fields", "url")],
            "pinned_tweet_id"
        ),
        Some(Vocabulary::Tweet)
    );
    assert_eq!(
        told(
            Object::User,
            &[(Object::User, "user.fields", "pinned_post_id")],
            ""
        ),
        Some(Vocabulary::Post)
    );
    assert_eq!(
        told(Object::User, &[], "affiliation"),
        Some(Vocabulary::Post)
    );
    assert_eq!(told(Object::Post, &[], "username"), Some(Vocabulary::Post));
    assert_eq!(
        told(Object::Post, &[], "entities.note.mentions.username"),
        Some(Vocabulary::Tweet)
    );
    // A generated client of the newer generation still says `tweet.fields` on streams.
    let stream = told(
        Object::Post,
        &[(Object::Post, "tweet.fields", "note_tweet")],
        "referenced_posts",
    );
    assert_eq!(stream, Some(Vocabulary::Post));
}

#[test]
fn an_expansion_shows_the_field_it_goes_through() {
    let through = wants(
        Object::Post,
        &[],
        "author_id,referenced_tweets.id.author_id",
    );
    let plain = Wants::defaults(Object::Post);
    let bit = crate::wants::bit_of(Object::Post, "author_id");
    assert_eq!(through.of_root(), plain.of_root() | bit);
    assert_eq!(through.of_included(Object::Post), plain.of_root() | bit);
    let through = wants(Object::Post, &[], "author_id");
    assert_eq!(through.of_included(Object::Post), plain.of_root());
}
