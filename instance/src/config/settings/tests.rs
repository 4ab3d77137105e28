use super::ServerSettings;
use crate::command_error::CommandError;
use crate::config::{ConfigSources, RunMode, load};

fn load_settings(mode: RunMode, sets: &[&str]) -> Result<ServerSettings, CommandError> {
    let sources =
        ConfigSources { set_flags: sets.iter().map(|set| (*set).to_owned()).collect(), ..ConfigSources::default() };
    ServerSettings::from_values(&load(&sources, mode)?)
}

#[test]
fn the_test_platform_stays_on_this_machine() {
    let open = "listen.addr=0.0.0.0:80";
    assert!(matches!(load_settings(RunMode::Dev, &[open]), Err(CommandError::WrongMode(_))));
    assert!(load_settings(RunMode::Dev, &[open, "core.expose=true"]).is_ok());
    let control = load_settings(RunMode::Dev, &["listen.control_addr=0.0.0.0:81"]);
    assert!(matches!(control, Err(CommandError::Usage(_))));
}

#[test]
fn free_port_of_dev_replaces_a_base_url_that_no_flag_gave() {
    let text = "http://127.0.0.1:8080".to_owned();
    let by_variable = ConfigSources {
        variables: vec![("LOCUM_CORE__BASE_URL".to_owned(), text.clone())],
        ..ConfigSources::default()
    };
    let by_flag =
        ConfigSources { flags: vec![("core.base_url", text, "--base-url".to_owned())], ..ConfigSources::default() };
    let is_kept = |sources: &ConfigSources, port| {
        let mut settings = ServerSettings::from_values(&load(sources, RunMode::Dev).unwrap()).unwrap();
        settings.set_port(Some(port));
        settings.core.base_url.is_some()
    };
    assert_eq!([is_kept(&by_variable, 0), is_kept(&by_variable, 1), is_kept(&by_flag, 0)], [false, true, true]);
}

#[test]
fn a_real_network_asks_before_it_opens_a_door() {
    let serve = |sets: &[&str]| load_settings(RunMode::Serve, sets);
    let (plain, tls) = ("core.base_url=http://s.example", "core.base_url=https://s.example");
    assert!(matches!(serve(&[plain]), Err(CommandError::WrongMode(_))));
    assert!(serve(&[plain, "listen.trusted_proxies=10.0.0.1"]).is_ok());
    let open = serve(&[plain, "core.danger_plain_http=true"]).unwrap();
    assert_eq!(open.dangers, ["core.danger_plain_http"]);
    assert!(matches!(serve(&[tls, "limits.rate_limits=off"]), Err(CommandError::WrongMode(_))));
    assert!(serve(&[tls, "limits.rate_limits=off", "limits.danger_rate_limits=true"]).is_ok());
    assert!(serve(&[tls]).unwrap().dangers.is_empty());
}

#[test]
fn a_mail_server_is_a_whole_address_and_its_password_is_not_told() {
    let (url, from) = ("mail.smtp_url=smtps://me:hush@mail.example", "mail.from=Locum <no-reply@example.org>");
    assert!(load_settings(RunMode::Dev, &[]).unwrap().mail.is_none());
    let whole = load_settings(RunMode::Dev, &[url, from]).unwrap();
    assert!(!format!("{whole:?}").contains("hush"));
    for sets in [&[url][..], &[url, "mail.from=nobody"], &["mail.smtp_url=https://me:hush@mail.example", from]] {
        let told = load_settings(RunMode::Dev, sets).unwrap_err();
        assert!(matches!(&told, CommandError::Usage(text) if text.contains("mail.from")));
        assert!(!told.message().contains("hush"), "{told:?}");
    }
}

#[test]
fn a_bucket_has_its_keys_and_tls_unless_that_is_waived() {
    let whole = |endpoint| {
        [
            "media.s3_url=s3://media/here",
            "media.s3_access_key=me",
            "media.s3_secret_key=hush",
            endpoint,
            "core.base_url=https://s.example",
        ]
    };
    let (plain, tls) =
        (whole("media.s3_endpoint=http://s3.example:9000"), whole("media.s3_endpoint=https://s3.example"));
    let made = load_settings(RunMode::Serve, &tls).unwrap();
    assert!(!format!("{made:?}").contains("hush"));
    assert!(load_settings(RunMode::Dev, plain.get(..4).unwrap()).is_ok());
    assert!(matches!(
        load_settings(RunMode::Serve, &plain),
        Err(CommandError::WrongMode(text)) if text.contains("media.s3_endpoint")
    ));
    let waived = [&plain[..], &["media.danger_plain_s3=true"]].concat();
    let waived = load_settings(RunMode::Serve, &waived).unwrap();
    assert_eq!(waived.dangers, ["media.danger_plain_s3"]);
    for (sets, name) in [
        (&plain[..2], "media.s3_secret_key"),
        (&plain[..1], "media.s3_access_key"),
        (&["media.s3_url=https://media"][..], "media.s3_url"),
    ] {
        let told = load_settings(RunMode::Dev, sets).unwrap_err();
        assert!(matches!(&told, CommandError::Usage(text) if text.starts_with(name)), "{told:?}");
    }
}

#[test]
fn who_may_join_is_nobody_unless_a_real_network_says_so() {
    use crate::config::types::RegistrationName;
    let base = "core.base_url=https://s.example";
    let serve = |sets: &[&str]| load_settings(RunMode::Serve, sets).unwrap().auth.registration;
    assert_eq!(serve(&[base]), RegistrationName::Closed);
    let invite = serve(&[base, "auth.registration=invite"]);
    assert_eq!(invite, RegistrationName::Invite);
    let dev = load_settings(RunMode::Dev, &[]).unwrap().auth.registration;
    assert_eq!(dev, RegistrationName::Open);
    let wrong = load_settings(RunMode::Dev, &["auth.registration=some"]);
    assert!(matches!(wrong, Err(CommandError::Usage(_))));
}
