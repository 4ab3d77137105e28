//! Every limit and rule of the specification, and what tests it.

use ads::resources::RESOURCES;
use ads_engine::ValueKind;

/// How a limit or rule is tested.
enum How {
    /// By the bounds that are declared of a parameter: `operation or resource`, its name, its kind.
    Bound(&'static str, &'static str, &'static str),
    /// By a test: `file`, its name.
    Test(&'static str, &'static str),
}
use How::{Bound, Test};

/// The limits of the advertising interface (contract ads §6) and the rules of its resources
/// (contract ads §1.5, §4), each with what tests it.
const LINES: &[(&str, &[How])] = &[
    (
        "contract ads §6: active campaigns of an account",
        &[
            Test("limits", "active_campaigns_of_an_account_are_limited"),
            Test("limits", "campaign_limit_holds_for_concurrent_requests"),
            Test("campaigns", "active_campaign_beyond_the_account_limit_is_refused"),
        ],
    ),
    (
        "contract ads §6: batch campaign operations",
        &[
            Test("limits", "batch_may_have_as_many_items_as_the_contract_allows"),
            Test("limits", "batch_is_refused_if_it_is_malformed_empty_or_too_large"),
        ],
    ),
    (
        "contract ads §6: batch custom-audience user operations",
        &[Test("audiences", "member_batch_is_limited_in_operations_and_bytes")],
    ),
    (
        "contract ads §6: requests with with_total_count",
        &[Test("limits", "total_counts_are_rate_limited_to_two_hundred_per_window")],
    ),
    (
        "contract ads §6: filter lists",
        &[
            Test("limits", "every_parameter_enforces_its_declared_bounds"),
            Bound("getAdsCampaigns", "campaign_ids", "200"),
            Bound("getAdsCardsByUri", "card_uris", "200"),
            Bound("getAdsCuratedCategories", "country_codes", "200"),
            Bound("getAdsAudiencePermissions", "granted_account_ids", "200"),
        ],
    ),
    (
        "contract ads §6: post identifiers of one promotion",
        &[Bound("createAdsPromotedPosts", "post_ids", "50"), Test("limits", "fifty_posts_are_promoted_by_one_request")],
    ),
    ("contract ads §6: media of a scheduled post", &[Test("limits", "scheduled_post_is_limited_in_media_and_time")]),
    ("contract ads §6: scheduling horizon", &[Test("limits", "scheduled_post_is_limited_in_media_and_time")]),
    ("contract ads §6: keyword insight range", &[Test("insights", "keyword_insights_limit_keywords_and_time_span")]),
    (
        "contract ads §6: card name",
        &[
            Bound("card", "name", "1..80"),
            Bound("poll_card", "name", "1..80"),
            Bound("video_conversation_card", "name", "1..80"),
        ],
    ),
    ("contract ads §6: campaign name", &[Bound("campaign", "name", "1..255"), Bound("line_item", "name", "1..255")]),
    ("contract ads §6: purchase order", &[Bound("campaign", "purchase_order_number", "1..50")]),
    (
        "contract ads §6: poll choice",
        &[
            Bound("poll_card", "first_choice", "1..25"),
            Bound("poll_card", "second_choice", "1..25"),
            Bound("poll_card", "third_choice", "1..25"),
            Bound("poll_card", "fourth_choice", "1..25"),
        ],
    ),
    (
        "contract ads §6: media title, description, file name and name",
        &[
            Bound("library_media", "title", "1..70"),
            Bound("library_media", "description", "1..200"),
            Bound("library_media", "file_name", "1..255"),
            Bound("library_media", "name", "1..100"),
        ],
    ),
    ("contract ads §6: option of a conversation card", &[Test("limits", "card_texts_and_lists_are_bounded")]),
    (
        "contract ads §6: thank-you text and title",
        &[
            Bound("video_conversation_card", "thank_you_text", "1..23"),
            Bound("video_conversation_card", "title", "1..23"),
            Bound("image_conversation_card", "thank_you_text", "1..23"),
            Bound("image_conversation_card", "title", "1..23"),
        ],
    ),
    (
        "contract ads §6: scheduled post name",
        &[Bound("scheduled_post", "name", "1..80"), Bound("draft_post", "name", "1..80")],
    ),
    ("contract ads §6: poll duration", &[Bound("poll_card", "duration_in_minutes", "5..10080")]),
    ("contract ads §6: swipeable media", &[Test("limits", "card_texts_and_lists_are_bounded")]),
    ("contract ads §6: line items", &[Test("limits", "line_items_of_a_campaign_and_of_an_account_are_limited")]),
    (
        "contract ads §6: batches",
        &[
            Test("limits", "batch_may_have_as_many_items_as_the_contract_allows"),
            Test("limits", "batch_is_refused_if_it_is_malformed_empty_or_too_large"),
        ],
    ),
    (
        "contract ads §6: criteria of a line item, publisher exclusions",
        &[
            Test("limits", "criteria_of_a_kind_are_limited_in_a_line_item"),
            Test("curated_categories", "curated_category_is_linked_to_a_line_item_that_targets_its_country"),
        ],
    ),
    ("contract ads §6: scheduled posts in 15 minutes", &[Test("scheduled_posts", "invalid_scheduled_post_is_refused")]),
    (
        "contract ads §6: figures",
        &[
            Test("stats", "invalid_request_for_figures_is_refused"),
            Test("jobs", "stats_jobs_are_queued_cancelled_and_limited"),
        ],
    ),
    (
        "contract ads §6: members of an audience",
        &[Test("audiences", "membership_of_one_user_is_not_disclosed_by_audience_sizes")],
    ),
    (
        "contract ads §1.5: count, q and sort of lists",
        &[
            Test("conform", "every_resource_conforms_to_its_declaration"),
            Bound("getAdsAccounts", "count", "1..1000"),
            Bound("getAdsAccounts", "q", "1..255"),
            Bound("getAdsCampaigns", "q", "1..255"),
            Bound("getAdsCards", "count", "1..200"),
            Bound("getAdsCards", "q", "1..80"),
            Bound("getAdsPollCards", "q", "1..80"),
            Bound("getAdsDraftPosts", "count", "1..200"),
            Bound("getAdsScheduledPosts", "count", "1..200"),
        ],
    ),
    (
        "contract ads §4.1: accounts are made and deleted in the sandbox",
        &[Test("mod", "sandbox_accounts_are_separate_from_live_ones")],
    ),
    (
        "contract ads §4.1: account history",
        &[Test("settings", "history_of_a_record_lists_its_changes_and_who_made_them")],
    ),
    (
        "contract ads §9.3: business and content categories",
        &[Test("criteria", "content_categories_are_targeted_in_complete_groups")],
    ),
    (
        "contract ads §4.2: curated categories",
        &[Test("curated_categories", "curated_categories_are_filtered_by_country")],
    ),
    (
        "contract ads §4.1: features",
        &[
            Test("gates", "gated_field_is_refused_without_the_feature"),
            Test("gates", "sandbox_account_adds_its_own_features"),
        ],
    ),
    ("contract ads §4.13: audience estimate", &[Test("insights", "invalid_estimate_is_refused_with_its_errors")]),
    ("contract ads §4.13: keyword insights", &[Test("insights", "keyword_insights_limit_keywords_and_time_span")]),
    (
        "contract ads §4.13: recommendations",
        &[Test("recommendations", "recommendation_ends_when_outdated_or_dismissed")],
    ),
    (
        "contract ads §4.4: campaigns",
        &[
            Test("campaigns", "invalid_campaign_is_refused_with_all_its_errors"),
            Test("campaigns", "campaign_batch_is_applied_completely_or_not_at_all"),
            Test("campaigns", "daily_budget_is_at_most_the_total_and_required_unless_an_order_pays"),
        ],
    ),
    ("contract ads §4.7: component rules", &[Test("cards", "invalid_card_is_refused_with_its_errors")]),
    (
        "contract ads §4.8: poll cards",
        &[Test("cards", "invalid_poll_card_is_refused"), Test("cards", "poll_card_with_media_needs_the_feature")],
    ),
    (
        "contract ads §4.9: conversation cards",
        &[Test("cards", "conversation_card_is_validated_when_created_and_changed")],
    ),
    (
        "contract ads §4.10, §4.11: drafts, scheduled posts and the library",
        &[
            Test("scheduled_posts", "invalid_scheduled_post_is_refused"),
            Test("scheduled_posts", "draft_is_stored_and_not_published"),
            Test("scheduled_posts", "media_of_the_library_are_named_and_used_in_scheduled_posts"),
        ],
    ),
    (
        "contract ads §4.12: calls to action and media creatives",
        &[Test("settings", "media_creative_needs_a_line_item_that_takes_it")],
    ),
    (
        "contract ads §4.12: what is promoted",
        &[
            Test("campaigns", "campaign_runs_once_a_line_item_has_a_promoted_post"),
            Test("campaigns", "promoted_account_needs_a_followers_line_item_and_a_promotable_user"),
        ],
    ),
    (
        "contract ads §4.12: curated categories of line items",
        &[Test("curated_categories", "curated_category_is_linked_to_a_line_item_that_targets_its_country")],
    ),
    ("contract ads §4.12: tracking tags", &[Test("campaigns", "tracking_tag_belongs_to_its_line_item_and_account")]),
    (
        "contract ads §4.14: audiences and their permissions",
        &[
            Test("audiences", "audience_is_returned_as_created_and_its_name_is_unique"),
            Test("audiences", "account_reads_an_audience_shared_with_it_and_changes_nothing"),
        ],
    ),
    ("contract ads §4.1: user settings", &[Test("settings", "user_settings_are_changed_by_the_user_only")]),
    ("contract ads §4.1: tax settings", &[Test("settings", "tax_settings_of_an_account_are_read_and_changed")]),
    (
        "contract ads §4.5: line items",
        &[
            Test("campaigns", "line_item_takes_the_goals_payments_and_bid_strategies_of_its_objective"),
            Test("campaigns", "bid_is_bounded_by_the_budget_and_by_the_currency"),
            Test("criteria", "app_line_item_targets_the_platforms_of_its_app"),
        ],
    ),
    (
        "contract ads §4.6: criteria",
        &[
            Test("criteria", "targeting_type_accepts_only_its_operators"),
            Test("criteria", "invalid_criterion_is_refused_alike_alone_and_in_a_batch"),
            Test("criteria", "tv_show_is_targeted_in_its_markets_only"),
            Test("criteria", "engagement_criteria_need_an_engagement_type"),
            Test("criteria", "platform_and_device_are_not_targeted_together"),
            Test("audiences", "line_item_targets_an_audience_of_the_account_that_has_members"),
        ],
    ),
];

const SOURCES: &[(&str, &str)] = &[
    (
        "audiences",
        concat!(
            include_str!("../audiences/size_disclosure.rs"),
            include_str!("../audiences/flexible.rs"),
            include_str!("../audiences/lists.rs"),
            include_str!("../audiences/members.rs"),
            include_str!("../audiences/permissions.rs"),
            include_str!("../audiences/targeting_line_items.rs"),
        ),
    ),
    (
        "campaigns",
        concat!(
            include_str!("../campaigns.rs"),
            include_str!("../campaigns/budgets.rs"),
            include_str!("../campaigns/line_items.rs"),
            include_str!("../campaigns/lists.rs"),
        ),
    ),
    ("cards", include_str!("../cards.rs")),
    ("conform", include_str!("../conform.rs")),
    ("criteria", include_str!("../criteria.rs")),
    ("curated_categories", include_str!("../curated_categories.rs")),
    ("gates", include_str!("../gates.rs")),
    ("insights", include_str!("../insights.rs")),
    ("jobs", include_str!("../ledger/jobs.rs")),
    ("limits", concat!(include_str!("../limits.rs"), include_str!("batches.rs"), include_str!("criteria.rs"))),
    ("mod", include_str!("../mod.rs")),
    ("recommendations", include_str!("../recommendations.rs")),
    ("scheduled_posts", include_str!("../scheduled_posts.rs")),
    ("settings", include_str!("../settings.rs")),
    ("stats", include_str!("../ledger/stats.rs")),
];

/// The bounds that are declared, as the list of lines writes them.
fn declared(whose: &str, name: &str) -> Option<String> {
    let resource = RESOURCES.iter().find(|of| of.name == whose);
    let kind = if let Some(of) = resource {
        of.field(name)?.kind
    } else {
        let operation = ads_delivery::operations().iter().find(|one| one.id == whose)?;
        let mut params = operation.params.iter();
        params.find(|param| param.name.post == name)?.kind
    };
    Some(match (kind.value, kind.list) {
        (ValueKind::Text(least, most), None) => format!("{least}..{most}"),
        (ValueKind::Int(least, most), None) => format!("{least}..{most}"),
        (ValueKind::Text(..) | ValueKind::Long | ValueKind::Custom(_), Some((_, most))) => most.to_string(),
        _ => return None,
    })
}

#[test]
fn every_limit_and_rule_of_the_specification_has_a_test() {
    let mut wrong = Vec::new();
    for (line, all) in LINES {
        assert!(!all.is_empty(), "{line}");
        for how in *all {
            match how {
                Bound(whose, name, bounds) => {
                    let found = declared(whose, name);
                    if found.as_deref() != Some(*bounds) {
                        wrong.push(format!("{line}: {whose} {name} is {found:?}, not {bounds}"));
                    }
                }
                Test(file, name) => {
                    let source = SOURCES.iter().find(|(known, _)| known == file);
                    let test = format!("#[test]\nfn {name}()");
                    if !source.is_some_and(|(_, text)| text.contains(&test)) {
                        wrong.push(format!("{line}: there is no test {file}::{name}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
