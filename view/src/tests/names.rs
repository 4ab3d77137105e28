//! Parameter names, compared with the lists of both published API generations.

use base::{Refusal, Vocabulary};

use super::field_selection;
use crate::ObjectKind;
use crate::{FieldInclusion, FieldSelection, JsonFieldType};

const OFFICIAL: &[(ObjectKind, &str)] = &[
    (
        ObjectKind::Post,
        "article article_title attachments card_uri community_id context_annotations conversation_id created_at display_text_range edit_controls entities geo id lang matched_media_notes media_metadata non_public_metrics note_post note_request_suggestions organic_metrics paid_partnership possibly_sensitive promoted_metrics public_metrics reply_settings scopes source suggested_source_links suggested_source_links_with_counts text withheld",
    ),
    (
        ObjectKind::Post,
        "article attachments author_id card_uri community_id context_annotations conversation_id created_at display_text_range edit_controls edit_history_tweet_ids entities geo id in_reply_to_user_id lang matched_media_notes media_metadata non_public_metrics note_request_suggestions note_tweet organic_metrics paid_partnership possibly_sensitive promoted_metrics public_metrics referenced_tweets reply_settings scopes source suggested_source_links suggested_source_links_with_counts text withheld",
    ),
    (
        ObjectKind::User,
        "affiliation confirmed_email connection_status created_at description entities id is_identity_verified location most_recent_tweet_id name parody pinned_tweet_id profile_banner_url profile_image_url protected public_metrics receives_your_dm subscribes_to_you subscription subscription_type url username verified verified_followers_count verified_type withheld",
    ),
    (
        ObjectKind::Media,
        "alt_text duration_ms height media_key non_public_metrics organic_metrics preview_image_url promoted_metrics public_metrics type url variants width",
    ),
    (ObjectKind::Poll, "duration_minutes end_datetime id options voting_status"),
    (ObjectKind::Place, "contained_within country country_code full_name geo id name place_type"),
    (ObjectKind::List, "created_at description follower_count id member_count name owner_id private"),
    (
        ObjectKind::Space,
        "created_at creator_id ended_at host_ids id invited_user_ids is_ticketed lang participant_count scheduled_start speaker_ids started_at state subscriber_count title topic_ids updated_at",
    ),
    (ObjectKind::Topic, "description id name"),
    (
        ObjectKind::DmEvent,
        "attachments created_at dm_conversation_id entities event_type id participant_ids referenced_tweets sender_id text",
    ),
    (ObjectKind::Community, "access created_at description id join_policy member_count name"),
    (
        ObjectKind::News,
        "category cluster_posts_results contexts disclaimer hook id keywords name summary updated_at rest_id last_updated_at_ms",
    ),
    (ObjectKind::Note, "id info scoring_status status test_result"),
    (ObjectKind::Trend, "trend_name tweet_count"),
    (ObjectKind::PersonalizedTrend, "category post_count trend_name trending_since"),
    (
        ObjectKind::Usage,
        "cap_reset_day daily_client_app_usage daily_project_usage project_cap project_id project_usage",
    ),
    (ObjectKind::Connection, "client_ip connected_at disconnect_reason disconnected_at endpoint_name id"),
    (
        ObjectKind::ComplianceJob,
        "created_at download_expires_at download_url id name resumable status type upload_expires_at upload_url",
    ),
    (
        ObjectKind::RulesCount,
        "all_project_client_apps cap_per_client_app cap_per_project client_app_rules_count project_rules_count",
    ),
    (ObjectKind::SearchCount, "end start tweet_count"),
    (ObjectKind::Like, "created_at id liked_tweet_id timestamp_ms"),
];

const OFFICIAL_EXPANSIONS: &[(ObjectKind, &str)] = &[
    (
        ObjectKind::Post,
        "article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet attachments.poll_ids author_id edit_history_post_ids entities.mentions.username geo.place_id in_reply_to_user_id referenced_posts username",
    ),
    (
        ObjectKind::Post,
        "article.cover_media article.media_entities attachments.media_keys attachments.media_source_tweet attachments.poll_ids author_id edit_history_tweet_ids entities.mentions.username geo.place_id in_reply_to_user_id entities.note.mentions.username referenced_tweets.id referenced_tweets.id.attachments.media_keys referenced_tweets.id.author_id",
    ),
    (
        ObjectKind::User,
        "affiliation most_recent_post_id pinned_post_id affiliation.user_id most_recent_tweet_id pinned_tweet_id",
    ),
    (ObjectKind::List, "owner_id"),
    (ObjectKind::Space, "creator_id host_ids invited_user_ids speaker_ids topic_ids"),
    (ObjectKind::DmEvent, "attachments.media_keys participant_ids referenced_posts referenced_tweets.id sender_id"),
    (ObjectKind::Like, "attachments.media_keys liked_tweet_author_id liked_tweet_id"),
];

/// Renamed counterparts of names that one generation lacks: accepted, but in neither list.
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
    for object in ObjectKind::ALL {
        for (official, names) in [(OFFICIAL, object.field_names()), (OFFICIAL_EXPANSIONS, object.expansion_names())] {
            let lists = official.iter().filter(|(of, _)| *of == object);
            let listed: Vec<&str> = lists.flat_map(|(_, list)| list.split(' ')).collect();
            for name in &listed {
                assert!(names.contains(name), "{object:?} lacks {name}");
            }
            for name in names {
                assert!(listed.contains(&name) || OURS.contains(&name), "{object:?}: {name}");
            }
        }
    }
}

#[test]
fn a_table_fits_its_bits_and_has_no_name_twice() {
    for object in ObjectKind::ALL {
        assert_eq!(ObjectKind::ALL[object.index()], object);
        assert!(object.fields().len() <= 64 && object.expansions().len() <= 32);
        for speech in [Vocabulary::Post, Vocabulary::Tweet] {
            let mut names: Vec<_> = object.fields().iter().map(|field| field.name.name_in(speech)).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{object:?}");
            assert!(!names.contains(&""));
        }
        for expansion in object.expansions() {
            let start = if expansion.nested { ObjectKind::Post } else { object };
            assert_ne!(crate::field_selection::field_bit(start, expansion.field), 0, "{}", expansion.field);
        }
        assert!(object.fields().iter().any(|field| field.inclusion == FieldInclusion::Always));
        for field in object.fields() {
            assert!(field.description.ends_with('.'), "{}", field.description);
            assert!(!matches!(field.json_type, JsonFieldType::OneOf([])), "{}", field.name.post);
        }
    }
}

fn refusal(result: Result<(), Refusal>) -> Vec<(String, String)> {
    let Err(Refusal::InvalidParameters(wrongs)) = result else {
        panic!("{result:?}");
    };
    let wrongs = wrongs.into_iter();
    wrongs.map(|wrong| (format!("{} {:?}", wrong.parameter, wrong.values), wrong.message)).collect()
}

#[test]
fn unknown_names_are_refused_with_the_list() {
    let topics = "The `topic.fields` query parameter value [{}] is not one of [description,id,name]";
    for (value, wrong) in
        [("x", vec!["x"]), ("", vec![""]), ("id,Name,x", vec!["Name", "x"]), ("id,", vec![""]), (" id", vec![" id"])]
    {
        let mut selection = FieldSelection::defaults(ObjectKind::Space);
        let result = refusal(selection.add_fields_param(ObjectKind::Topic, "topic.fields", value));
        let expected = wrong.iter().map(|name| (format!("topic.fields {:?}", [name]), topics.replace("{}", name)));
        assert_eq!(result, expected.collect::<Vec<_>>(), "{value}");
    }
    let mut selection = FieldSelection::defaults(ObjectKind::User);
    let (about, message) = refusal(selection.add_expansions_param("expansions", "author_id")).remove(0);
    assert_eq!(about, "expansions [\"author_id\"]");
    assert_eq!(
        message,
        "The `expansions` query parameter value [author_id] is not one of [affiliation,\
         affiliation.user_id,most_recent_post_id,most_recent_tweet_id,pinned_post_id,pinned_tweet_id]"
    );
    let mut selection = FieldSelection::defaults(ObjectKind::Post);
    let (_, message) = refusal(selection.add_fields_param(ObjectKind::Post, "tweet.fields", "username")).remove(0);
    assert!(message.starts_with("The `tweet.fields` query parameter value [username] is not one of [article,"));
    // The only expansion of a list is its owner; polls have none.
    assert!(FieldSelection::defaults(ObjectKind::Poll).add_expansions_param("expansions", "id").is_err());
}

#[test]
fn names_give_their_vocabulary_away() {
    let told = |root, asked: &[(ObjectKind, &str, &str)], expansions: &str| {
        let mut selection = FieldSelection::defaults(root);
        for (object, parameter, names) in asked {
            selection.add_fields_param(*object, parameter, names).unwrap();
        }
        if !expansions.is_empty() {
            selection.add_expansions_param("expansions", expansions).unwrap();
        }
        selection.detected_vocabulary()
    };
    assert_eq!(told(ObjectKind::Post, &[], ""), None);
    assert_eq!(told(ObjectKind::Post, &[(ObjectKind::Post, "post.fields", "lang")], ""), Some(Vocabulary::Post));
    assert_eq!(told(ObjectKind::Post, &[(ObjectKind::Post, "tweet.fields", "lang")], ""), Some(Vocabulary::Tweet));
    assert_eq!(told(ObjectKind::Post, &[(ObjectKind::Media, "media.fields", "url")], "author_id"), None);
    assert_eq!(
        told(ObjectKind::User, &[(ObjectKind::User, "user.fields", "url")], "pinned_tweet_id"),
        Some(Vocabulary::Tweet)
    );
    assert_eq!(
        told(ObjectKind::User, &[(ObjectKind::User, "user.fields", "pinned_post_id")], ""),
        Some(Vocabulary::Post)
    );
    assert_eq!(told(ObjectKind::User, &[], "affiliation"), Some(Vocabulary::Post));
    assert_eq!(told(ObjectKind::Post, &[], "username"), Some(Vocabulary::Post));
    assert_eq!(told(ObjectKind::Post, &[], "entities.note.mentions.username"), Some(Vocabulary::Tweet));
    // Generated clients of the newer API generation still send `tweet.fields` on streams.
    let stream = told(ObjectKind::Post, &[(ObjectKind::Post, "tweet.fields", "note_tweet")], "referenced_posts");
    assert_eq!(stream, Some(Vocabulary::Post));
}

#[test]
fn an_expansion_shows_the_field_it_goes_through() {
    let through = field_selection(ObjectKind::Post, &[], "author_id,referenced_tweets.id.author_id");
    let plain = FieldSelection::defaults(ObjectKind::Post);
    let bit = crate::field_selection::field_bit(ObjectKind::Post, "author_id");
    assert_eq!(through.root_mask(), plain.root_mask() | bit);
    assert_eq!(through.included_mask(ObjectKind::Post), plain.root_mask() | bit);
    let through = field_selection(ObjectKind::Post, &[], "author_id");
    assert_eq!(through.included_mask(ObjectKind::Post), plain.root_mask());
}
