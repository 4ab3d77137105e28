//! What people do with an ad: rates by objective, creative, placement and platform.

use base::Fault;
use store::ledger::{AdEntity, AdEventKind, Placement};

use super::dice::Dice;

/// What a creative offers to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CreativeFacts {
    pub(super) has_video: bool,
    pub(super) has_card: bool,
    pub(super) has_carousel: bool,
    pub(super) has_poll: bool,
}

/// An impression of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedImpression<'a> {
    pub(super) objective: &'a str,
    pub(super) creative: AdEntity,
    pub(super) facts: CreativeFacts,
    pub(super) placement: Placement,
    pub(super) platform: Option<i64>,
    /// The number of people who see the ad.
    pub(super) people: i64,
    /// How much likelier than usual they are to engage, in thousandths.
    pub(super) appeal: i64,
}

/// A kind, how long after the impression in milliseconds, and how many people did it.
type Outcome = (AdEventKind, i64, i64);

impl SimulatedImpression<'_> {
    /// The impression and what follows it.
    pub(super) fn draw_outcomes(&self, dice: &Dice) -> Result<Vec<Outcome>, Fault> {
        let mut all = vec![(AdEventKind::Impression, 0, self.people)];
        let viewed = 560_000 + dice.below(180_000)?;
        let qualified = dice.successes(self.people, viewed)?;
        all.push((AdEventKind::Qualified, 1_000, qualified));
        if self.plays_video() {
            self.draw_views(dice, &mut all)?;
        }
        let appeal = self.appeal * placement_factor(self.placement) / 1000 * platform_factor(self.platform) / 1000;
        for (place, (kind, rate)) in (0..).zip(self.engagement_rates()) {
            let number = dice.successes(self.people, (rate * appeal / 1000).min(400_000))?;
            all.push((kind, 3_000 + place * 4_000, number));
        }
        all.retain(|(_, _, number)| *number > 0);
        Ok(all)
    }

    fn plays_video(&self) -> bool {
        self.facts.has_video
            || self.creative == AdEntity::MediaCreative
            || matches!(self.objective, "VIDEO_VIEWS" | "PREROLL_VIEWS")
    }

    /// Each stage is reached by a part of those who reached the one before.
    fn draw_views(&self, dice: &Dice, all: &mut Vec<Outcome>) -> Result<(), Fault> {
        let (started, viewed) = match self.objective {
            "PREROLL_VIEWS" => (975_000, 720_000),
            "VIDEO_VIEWS" => (920_000, 430_000),
            _ => (850_000, 310_000),
        };
        let part = |of: i64, rate: i64| dice.successes(of, rate * (1000 + (self.appeal - 1000) / 5) / 1000);
        let starts = dice.successes(self.people, started)?;
        let views = part(starts, viewed)?;
        let three = part(views, 800_000)?;
        let six = part(three, 560_000)?;
        let quarter = part(starts, 520_000)?;
        let half = part(quarter, 640_000)?;
        let most = part(half, 740_000)?;
        all.extend([
            (AdEventKind::VideoStart, 100, starts),
            (AdEventKind::VideoMrc, 2_000, part(starts, viewed + 80_000)?),
            (AdEventKind::VideoView, 3_000, views),
            (AdEventKind::Video3, 3_100, three),
            (AdEventKind::Video6, 6_000, six),
            (AdEventKind::Video15, 15_000, part(six, 350_000)?),
            (AdEventKind::Video25, 4_000, quarter),
            (AdEventKind::Video50, 8_000, half),
            (AdEventKind::Video75, 12_000, most),
            (AdEventKind::Video100, 16_000, part(most, 780_000)?),
        ]);
        Ok(())
    }

    /// Kinds with their probabilities in millionths.
    fn engagement_rates(&self) -> Vec<(AdEventKind, i64)> {
        use AdEventKind as K;
        if self.creative == AdEntity::PromotedAccount {
            return vec![(K::Follow, 4_500), (K::Click, 6_000)];
        }
        if self.creative == AdEntity::MediaCreative {
            return vec![(K::VideoCta, 6_000)];
        }
        let link = if self.facts.has_card { K::CardClick } else { K::UrlClick };
        let mut rates = match self.objective {
            "WEBSITE_CLICKS" => vec![(link, 9_000), (K::Like, 2_600), (K::Click, 2_000), (K::Repost, 400)],
            "APP_INSTALLS" | "APP_ENGAGEMENTS" => vec![(K::AppClick, 8_000), (K::Like, 1_800), (K::Click, 1_500)],
            "FOLLOWERS" => vec![(K::Follow, 4_000), (K::Click, 5_000), (K::Like, 3_000)],
            "REACH" => vec![(K::Like, 2_400), (K::Click, 2_500), (link, 900), (K::Repost, 400)],
            "VIDEO_VIEWS" => vec![(K::Like, 3_600), (K::Click, 3_000), (K::Repost, 700), (K::Reply, 300)],
            _ => vec![
                (K::Like, 7_000),
                (K::Click, 6_000),
                (link, 1_800),
                (K::Repost, 1_100),
                (K::Reply, 700),
                (K::Follow, 250),
            ],
        };
        if self.facts.has_card {
            rates.push((K::CardEngagement, 2_800));
        }
        if self.facts.has_carousel {
            rates.push((K::Swipe, 7_500));
        }
        if self.facts.has_poll {
            rates.push((K::PollVote, 9_000));
        }
        rates
    }
}

/// In thousandths of the rate in timelines.
const fn placement_factor(placement: Placement) -> i64 {
    match placement {
        Placement::AllOn | Placement::Timeline => 1000,
        Placement::Search => 1350,
        Placement::Profile => 800,
        Placement::Replies => 700,
        Placement::Spotlight => 1700,
        Placement::Trend => 1450,
        Placement::Full | Placement::FullLandscape => 850,
        Placement::Native => 750,
        Placement::Publishers | Placement::Banner | Placement::Rectangle => 550,
    }
}

const fn platform_factor(platform: Option<i64>) -> i64 {
    match platform {
        Some(0) => 1080,
        Some(1) => 1000,
        Some(4) => 820,
        _ => 900,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use ads::resources::line_items::OBJECTIVES;
    use store::ledger::{AdEntity, AdEventKind as K, Placement};

    use super::{CreativeFacts, Dice, SimulatedImpression};

    #[test]
    fn outcomes_of_every_objective_do_not_exceed_their_cause() {
        let rounds = OBJECTIVES.iter().flat_map(|objective| (0..50).map(move |round| (*objective, round)));
        for (objective, round) in rounds {
            let impression = SimulatedImpression {
                objective,
                creative: AdEntity::PromotedPost,
                facts: CreativeFacts { has_card: true, has_carousel: true, has_poll: true, has_video: true },
                placement: Placement::Search,
                platform: Some(0),
                people: 400,
                appeal: 1300,
            };
            let outcomes = impression.draw_outcomes(&Dice::from_parts(&[round])).unwrap();
            let counts: HashMap<K, i64> = outcomes.iter().map(|(kind, _, count)| (*kind, *count)).collect();
            assert_eq!(counts.len(), outcomes.len(), "each kind comes once: {outcomes:?}");
            assert_eq!(counts[&K::Impression], 400);
            let count = |kind| counts.get(&kind).copied().unwrap_or(0);
            for (cause, effect) in [
                (K::Impression, K::Qualified),
                (K::Impression, K::VideoStart),
                (K::VideoStart, K::Video25),
                (K::Video25, K::Video50),
                (K::Video50, K::Video75),
                (K::Video75, K::Video100),
                (K::VideoStart, K::VideoView),
                (K::VideoView, K::Video3),
                (K::Video3, K::Video6),
                (K::Video6, K::Video15),
            ] {
                assert!(count(cause) >= count(effect), "{objective}: {cause:?} before {effect:?} in {counts:?}");
            }
        }
    }
}
