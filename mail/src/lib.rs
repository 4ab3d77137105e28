//! Sends emails over SMTP.

use std::error::Error;
use std::io;
use std::time::Duration;

use base::{Fault, Secret};
use lettre::message::{Mailbox, SinglePart};
use lettre::transport::smtp::Error as SmtpError;
use lettre::{Address, Message, SmtpTransport, Transport};
use network::emails::{EmailMessage, EmailSendError, Mailer};

/// For one step of the conversation.
const SMTP_TIMEOUT: Duration = Duration::from_secs(20);

pub struct SmtpMailer {
    server: SmtpTransport,
    from: Mailbox,
}

/// Whether emails can come from it: an address, or `Name <address>`.
pub fn is_sender_address(text: &str) -> bool {
    text.parse::<Mailbox>().is_ok()
}

impl SmtpMailer {
    /// `url` is `smtps://name:password@host`, `smtp://…?tls=required` for STARTTLS, or
    /// `smtp://host` for no TLS. `from` is an address or `Name <address>`. Does not connect.
    pub fn new(url: &Secret, from: &str) -> Result<Self, Fault> {
        // The URL contains a password, so the error does not include it.
        let server = SmtpTransport::from_url(url.expose_secret())
            .map_err(|_| Fault::new("the URL of the mail server is invalid"))?;
        let from = from.parse().map_err(Fault::context("invalid sender address"))?;
        Ok(Self { server: server.timeout(Some(SMTP_TIMEOUT)).build(), from })
    }

    /// Connects and authenticates.
    pub fn check_connection(&self) -> Result<(), Fault> {
        match self.server.test_connection() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Fault::new("the mail server does not respond")),
            Err(error) => Err(smtp_fault("failed to connect to the mail server", error)),
        }
    }

    fn build_message(&self, email: &EmailMessage) -> Result<Message, Fault> {
        let to: Address = email.to.parse().map_err(Fault::context("invalid recipient address"))?;
        // The same at each attempt, so that receivers see that it is the same email.
        let message_id = format!("<{}@{}>", email.id, self.from.email.domain());
        Message::builder()
            .message_id(Some(message_id))
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(email.subject.as_str())
            .singlepart(SinglePart::plain(email.text.expose_secret().to_owned()))
            .map_err(Fault::context("failed to build an email"))
    }
}

impl Mailer for SmtpMailer {
    fn send(&self, email: &EmailMessage) -> Result<(), EmailSendError> {
        let message = self.build_message(email).map_err(|fault| EmailSendError { fault, is_permanent: true })?;
        self.server.send(&message).map(drop).map_err(|error| {
            let is_permanent = error.is_permanent() && is_about_recipient(&error);
            EmailSendError { fault: smtp_fault("failed to send an email", error), is_permanent }
        })
    }
}

/// A socket whose time limit is over says only that it would block.
fn smtp_fault(action: &'static str, error: SmtpError) -> Fault {
    let timeout = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    match timeout.map(io::Error::kind) {
        Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            Fault::new(format!("{action}: it did not respond within {} s", SMTP_TIMEOUT.as_secs()))
        }
        _ => Fault::from_cause(action, error),
    }
}

/// Whether the server refused the address of the recipient (RFC 3463 §3.2, §3.3), rather than our credentials, our address
/// or something else that can be corrected.
fn is_about_recipient(error: &SmtpError) -> bool {
    let answer = error.source().map(ToString::to_string).unwrap_or_default();
    let is_enhanced_code = |word: &&str| word.starts_with("5.") && word.split('.').count() == 3;
    match answer.split_whitespace().find(is_enhanced_code) {
        Some(code) => ["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.2.2"].contains(&code),
        None => matches!(error.status().map(u16::from), Some(550 | 551 | 553)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread;

    use base::Secret;
    use network::emails::{EmailMessage, Mailer};

    use super::{Duration, SmtpMailer, SmtpTransport};

    fn email(to: &str) -> EmailMessage {
        EmailMessage {
            id: "7.1700000000000".to_owned(),
            to: to.to_owned(),
            subject: "Grüße".to_owned(),
            text: Secret::new("Hello,\n\n.a line with a dot\nhttps://example.org/?token=abc\n"),
            expires_at: None,
        }
    }

    /// A mail server that takes one email, and answers what it was told.
    fn server(refuse: Option<&'static str>) -> (u16, thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let talk = thread::spawn(move || {
            let (mut out, _) = listener.accept().unwrap();
            let lines = BufReader::new(out.try_clone().unwrap()).lines();
            let (mut heard, mut in_text) = (Vec::new(), false);
            out.write_all(b"220 here\r\n").unwrap();
            for line in lines.map_while(Result::ok) {
                let answer = match line.split(' ').next().unwrap() {
                    "." => {
                        in_text = false;
                        "250 taken"
                    }
                    _ if in_text => "",
                    "RCPT" if refuse == Some("RCPT") => "550 nobody of that name",
                    "MAIL" if refuse == Some("MAIL") => "553 5.7.1 not from you",
                    "DATA" => {
                        in_text = true;
                        "354 go on"
                    }
                    "QUIT" => "221 bye",
                    _ => "250 good",
                };
                heard.push(line);
                if !answer.is_empty() {
                    out.write_all(format!("{answer}\r\n").as_bytes()).unwrap();
                }
            }
            heard
        });
        (port, talk)
    }

    fn smtp(port: u16) -> SmtpMailer {
        let url = Secret::new(format!("smtp://127.0.0.1:{port}"));
        SmtpMailer::new(&url, "Locum <no-reply@example.org>").unwrap()
    }

    #[test]
    fn email_arrives_as_it_was_written_with_an_id_of_its_own() {
        let (port, talk) = server(None);
        let mailer = smtp(port);
        mailer.send(&email("ada@example.org")).unwrap();
        drop(mailer);
        let heard = talk.join().unwrap();
        for expected in [
            "MAIL FROM:<no-reply@example.org>",
            "RCPT TO:<ada@example.org>",
            "To: ada@example.org",
            "From: Locum <no-reply@example.org>",
            "Message-ID: <7.1700000000000@example.org>",
            "MIME-Version: 1.0",
            "..a line with a dot",
            "https://example.org/?token=abc",
        ] {
            let found = heard.iter().any(|line| line.starts_with(expected));
            assert!(found, "{expected} is not in {heard:#?}");
        }
    }

    #[test]
    fn refused_email_is_a_failure() {
        let (port, talk) = server(Some("RCPT"));
        let mailer = smtp(port);
        let problem = mailer.send(&email("nobody@example.org")).unwrap_err();
        let text = problem.fault.to_string();
        assert!(text.contains("nobody of that name"), "{text}");
        assert!(problem.is_permanent);
        drop(mailer);
        talk.join().unwrap();
        // Ours can be corrected.
        let (port, talk) = server(Some("MAIL"));
        let mailer = smtp(port);
        assert!(!mailer.send(&email("ada@example.org")).unwrap_err().is_permanent);
        drop(mailer);
        talk.join().unwrap();
        assert!(smtp(1).send(&email("a@b.org\r\nBcc: c@d.org")).is_err());
    }

    #[test]
    fn silent_server_is_reported_as_such() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("smtp://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let server = SmtpTransport::from_url(&url).unwrap().timeout(Some(Duration::from_millis(50))).build();
        let mailer = SmtpMailer { server, from: "a@b.org".parse().unwrap() };
        let problem = mailer.check_connection().unwrap_err().to_string();
        assert!(problem.contains("did not respond within"), "{problem}");
    }

    #[test]
    fn invalid_url_is_reported_without_its_password() {
        let url = Secret::new("http://ada:hunter22@mail.example.org");
        let problem = SmtpMailer::new(&url, "a@b.org").err().unwrap();
        assert!(!problem.to_string().contains("hunter22"), "{problem}");
    }

    #[test]
    fn url_can_ask_for_an_encrypted_connection() {
        for url in ["smtps://mail.example.org", "smtp://mail.example.org:587?tls=required"] {
            SmtpMailer::new(&Secret::new(url), "a@b.org").unwrap();
        }
    }
}
