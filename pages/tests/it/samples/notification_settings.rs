use super::{hostile_frame, signed_in_frame, with_notice};
use pages::PageFrame;
use pages::members::{NotificationSettingItem, NotificationSettingsPage};

pub(crate) fn notification_settings_states() -> Vec<(&'static str, NotificationSettingsPage)> {
    let item = |field, label, senders| NotificationSettingItem { field, label, senders };
    let of = |frame: PageFrame| NotificationSettingsPage {
        frame,
        items: vec![item("mention", "Mentions", "followed"), item("like", "Likes", "everyone")],
    };
    vec![
        ("plain", of(signed_in_frame())),
        ("saved", of(with_notice(signed_in_frame(), "Your changes were saved."))),
        ("hostile", of(hostile_frame())),
    ]
}
