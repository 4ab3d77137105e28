//! Times as the Ads API spells them.

use base::Time;

/// Formats a time as the Ads API does: whole seconds in UTC.
pub fn format_time(time: Time) -> String {
    let mut text = String::with_capacity(24);
    write_time(&mut text, time);
    text
}

/// Appends what [`format_time`] returns.
pub fn write_time(out: &mut String, time: Time) {
    time.write_iso(out);
    out.truncate(out.len().saturating_sub(".000Z".len()));
    out.push('Z');
}

/// Parses a time: seconds and zone are optional, the zone may be short, a bare date is its midnight (contract ads
/// §1.3).
pub fn parse_time(text: &str) -> Option<Time> {
    let Some((date, rest)) = text.split_once(['T', 't', ' ']) else {
        return Time::parse(&format!("{text}T00:00:00Z"));
    };
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at_checked(zone_at)?;
    let clock = match clock.matches(':').count() {
        1 => format!("{clock}:00"),
        _ => clock.to_owned(),
    };
    let zone = match zone.len() {
        0 => "Z".to_owned(),
        3 => format!("{zone}:00"),
        5 if !zone.contains(':') => {
            let (hours, minutes) = zone.split_at_checked(3)?;
            format!("{hours}:{minutes}")
        }
        _ => zone.to_owned(),
    };
    Time::parse(&format!("{date}T{clock}{zone}"))
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{format_time, parse_time};

    #[test]
    fn moments_are_read_in_every_form_of_the_contract() {
        let same = Time::parse("2026-04-02T09:05:00Z");
        for text in [
            "2026-04-02T09:05:00Z",
            "2026-04-02T09:05Z",
            "2026-04-02T09:05:00.000Z",
            "2026-04-02T10:05:00+0100",
            "2026-04-02T10:05:00+01:00",
            "2026-04-02T10:05:00+01",
            "2026-04-02T09:05:00",
        ] {
            assert_eq!(parse_time(text), same, "{text}");
        }
        assert_eq!(parse_time("2026-04-02").map(format_time).as_deref(), Some("2026-04-02T00:00:00Z"));
        for text in ["", "tomorrow", "2026-13-02", "2026-04-02T09", "2026-04-02T25:00Z"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
