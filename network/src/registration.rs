//! Registration of accounts: who may register, and the rules for email addresses and passwords.

use base::{Error, Refusal, Secret, UserId};
use store::users::User;
use store::{Tx, users};

use crate::audit::{self, AuditAction, AuditActor, user_detail};
use crate::email_links;
use crate::emails::EmailSite;
use crate::sessions::ClientInfo;
use crate::sign_in::{MAX_PASSWORD_BYTES, SignInService, invalid_field};
use crate::users::NewUser;

/// Characters.
pub const MIN_PASSWORD_LENGTH: usize = 8;

/// Who may register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationPolicy {
    Open,
    /// Only those with an invitation.
    Invite,
    Closed,
}

#[derive(Clone, Debug)]
pub struct RegistrationApplicant {
    pub username: String,
    /// The display name; empty for the handle.
    pub name: String,
    pub email: String,
    pub password: Secret,
    /// The secret of an invitation.
    pub invite: Option<Secret>,
    pub client_info: ClientInfo,
}

/// Creates an account and sends a link to confirm its email address. Refused by policy, by rate limit per client
/// address, and for invalid input.
pub async fn register(
    sign_in: &SignInService,
    site: &EmailSite,
    registration: RegistrationPolicy,
    applicant: &RegistrationApplicant,
) -> Result<UserId, Error> {
    if registration == RegistrationPolicy::Closed {
        return Err(Refusal::forbidden("New accounts can not be made here.").into());
    }
    if registration == RegistrationPolicy::Invite && applicant.invite.is_none() {
        return Err(Refusal::forbidden("New accounts can be made with an invitation only.").into());
    }
    let email = applicant.email.trim().to_owned();
    validate_email(&email)?;
    validate_password(&applicant.password, &applicant.username, &email)?;
    let address = applicant.client_info.address.clone();
    let check_rate_limit = move |tx: &mut Tx<'_>| Ok(email_links::count_registration_attempt(tx, &address)?);
    if !sign_in.store.write(check_rate_limit).await? {
        return Err(Refusal::RateLimited.into());
    }
    let rng = &sign_in.store.context().rng;
    let hash = sign_in.pool.hash(&applicant.password, rng).await?;
    let (site, applicant) = (site.clone(), applicant.clone());
    let work = move |tx: &mut Tx<'_>| {
        if registration == RegistrationPolicy::Invite {
            let invite = applicant.invite.as_ref();
            email_links::accept_invitation(tx, invite.unwrap_or(&Secret::new("")))?;
        }
        let user = create_account(tx, &applicant, &email, &hash)?;
        email_links::send_email_confirmation(tx, &site, &user, &email)?;
        let actor = AuditActor::user(user.id, &applicant.client_info.address);
        audit::append(tx, &actor, AuditAction::USER_JOIN, None, &user_detail(user.id))?;
        Ok(user.id)
    };
    sign_in.store.write(work).await
}

/// The account, with an unconfirmed address.
fn create_account(tx: &mut Tx<'_>, applicant: &RegistrationApplicant, email: &str, hash: &str) -> Result<User, Error> {
    let new = NewUser {
        username: applicant.username.clone(),
        name: applicant.name.clone(),
        password_hash: Some(hash.to_owned()),
        ..NewUser::default()
    };
    let mut user = crate::users::create(tx, &new)?;
    users::set_email(tx, user.id, email, false)?;
    email.clone_into(&mut user.email);
    Ok(user)
}

/// Refuses syntactically invalid email addresses.
pub fn validate_email(email: &str) -> Result<(), Refusal> {
    if email.is_empty() {
        return Err(invalid_field("email", "An email address is needed"));
    }
    let is_valid_label = |label: &str| {
        let is_label_char = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        (1..=63).contains(&label.len())
            && label.chars().all(is_label_char)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_valid_local_part = |local: &str| {
        let is_atom_char = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(letter);
        (1..=64).contains(&local.len())
            && local.split('.').all(|part| !part.is_empty() && part.chars().all(is_atom_char))
    };
    let is_valid = email.len() <= 254
        && email
            .rsplit_once('@')
            .is_some_and(|(local, domain)| is_valid_local_part(local) && domain.split('.').all(is_valid_label));
    if is_valid {
        Ok(())
    } else {
        Err(invalid_field("email", "This is no email address that a letter could be sent to"))
    }
}

/// Refuses passwords that are too short, too long or easily guessed.
pub fn validate_password(password: &Secret, username: &str, email: &str) -> Result<(), Refusal> {
    let text = password.expose_secret();
    if text.chars().count() < MIN_PASSWORD_LENGTH {
        return Err(invalid_field(
            "password",
            format!("The password must have at least {MIN_PASSWORD_LENGTH} characters"),
        ));
    }
    if text.len() > MAX_PASSWORD_BYTES {
        return Err(invalid_field("password", "The password is too long"));
    }
    let lower = text.to_lowercase();
    let local = email.split_once('@').map_or("", |(local, _)| local);
    let is_own_data = [username, email, local].iter().any(|text| !text.is_empty() && text.to_lowercase() == lower);
    let mut letters = lower.chars();
    let first = letters.next();
    let is_single_character = letters.all(|letter| Some(letter) == first);
    if is_own_data || is_single_character || COMMON_PASSWORDS.split_ascii_whitespace().any(|common| common == lower) {
        let message = "This password would be guessed at once: choose another";
        return Err(invalid_field("password", message));
    }
    Ok(())
}

/// The most common passwords of at least eight characters.
const COMMON_PASSWORDS: &str = "12345678 123456789 1234567890 12345678910 123123123 123454321 123456123 \
    1234567891 12341234 11223344 1122334455 12344321 13131313 21212121 87654321 987654321 \
    9876543210 0987654321 0123456789 01234567 10203040 147258369 789456123 741852963 159753456 \
    123321123 112233445566 69696969 19841984 password password1 password12 password123 password! \
    passw0rd p@ssword p@ssw0rd p@ssw0rd1 password1! password01 password2 mypassword thepassword \
    changeme changeme123 letmein1 letmein123 welcome1 welcome123 welcome01 qwertyui qwertyuiop \
    qwerty12 qwerty123 qwerty1234 qwerty12345 qwerty123456 qwertyuiop123 1q2w3e4r 1q2w3e4r5t \
    1q2w3e4r5t6y 1qaz2wsx 1qaz2wsx3edc 1qazxsw2 q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 zaq12wsx \
    zaq1zaq1 qazwsxedc qazwsx123 qweasdzxc asdfghjk asdfghjkl asdf1234 asdasdasd zxcvbnm1 \
    zxcvbnm123 abcd1234 abc12345 abc123456 abcdefgh abcdefghi a1b2c3d4 a1234567 a12345678 \
    a123456789 aa123456 aa12345678 qq123456 iloveyou iloveyou1 iloveyou2 iloveyou! ilovegod \
    loveyou1 sunshine sunshine1 princess princess1 football football1 baseball baseball1 \
    basketball superman superman1 batman123 spiderman starwars pokemon1 pokemon123 dragon123 \
    master123 monkey123 shadow123 michael1 jennifer jordan23 ashley123 charlie1 daniel123 \
    michelle jessica1 nicole123 elizabeth alexander christian victoria samantha charlotte \
    liverpool liverpool1 chelsea1 arsenal1 manchester barcelona computer computer1 internet \
    samsung1 google123 facebook twitter1 linkedin trustno1 whatever whatever1 security \
    administrator admin123 admin1234 admin12345 admin@123 administrator1 root1234 rootroot toor1234 \
    test1234 testtest testing1 testing123 guest123 user1234 default1 secret123 letmein! \
    access14 mustang1 corvette mercedes ferrari1 yankees1 redskins cowboys1 steelers packers1 \
    hello123 hello1234 helloworld goodluck butterfly chocolate rainbow1 blink182 metallica \
    slipknot nirvana1 slayer666 killer123 midnight maverick hardcore nothing1 internet1 \
    babygirl babygirl1 princesa tinkerbell garfield snoopy12 scooby12 freedom1 jesus123 \
    christ123 blessed1 gabriel1 p455w0rd pa55word pa55w0rd pass1234 pass12345 passpass passport \
    summer123 winter123 spring123 autumn123 monday123 friday13 january1 december letmeinnow \
    correcthorsebatterystaple asdfasdf qwerqwer zxczxczxc 1234qwer qwer1234 1234abcd q1234567 \
    z1x2c3v4 123qweasd 123qwe123 123qweasdzxc 123abc123 1a2b3c4d myspace1 omgpop123 gfhjkm123";

#[cfg(test)]
mod tests {
    use base::Secret;

    use super::{validate_email, validate_password};

    #[test]
    fn an_address_is_one_that_a_letter_could_go_to() {
        for is_valid in ["a@b.org", "a.b+c@d-e.example", "ada@localhost", "o'x@a.io"] {
            assert!(validate_email(is_valid).is_ok(), "{is_valid}");
        }
        for bad in [
            "",
            "a",
            "@b.org",
            "a@",
            "a@b..org",
            "a@-b.org",
            "a b@c.org",
            "a@b.org\r\nBcc: c@d.org",
            "a,b@c.org",
            "<a@b.org>",
            "a@b@c.org",
            ".a@b.org",
            "a@b.org.",
            "ä@b.org",
        ] {
            assert!(validate_email(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_password_is_not_the_first_guess() {
        let ok = |text: &str| validate_password(&Secret::new(text), "grace_hopper", "gh1906@b.org").is_ok();
        for is_valid in ["tr4ms stop here", "ünïcödé"] {
            assert_eq!(ok(is_valid), is_valid.chars().count() >= 8, "{is_valid}");
        }
        for bad in
            ["", "short", "PassWord1", "12345678", "aaaaaaaaaa", "Grace_Hopper", "gh1906@b.org", &"x1".repeat(600)]
        {
            assert!(!ok(bad), "{bad:?}");
        }
    }
}
