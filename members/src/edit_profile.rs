//! `/settings/profile`: one's own profile, who sees it and who may message.

use std::sync::Arc;

use base::text::NAME_LENGTH;
use base::{AccountTimeZone, Error, MediaId, Refusal, SplitRefusal, UserId};
use media::{CropPosition, MediaFormat};
use network::audit::AuditActor;
use network::member_time_zones;
use network::profile_fields::{BIOGRAPHY_LENGTH, LOCATION_LENGTH, URL_LENGTH};
use network::profiles::{self, ProfileChanges};
use pages::members::{EDIT_PROFILE_PATH, EditProfilePage, ProfilePictureForm};
use pages::{FormField, Notice};
use portal::submitted_forms::{is_submitted, new_form_id, write_once};
use portal::{MemberVisit, PageExit, PageQuery, SubmittedForm, UploadSubmission, redirect_to, run_upload_form};
use store::Tx;
use store::users::User;
use web::HttpReply;
use web::error_formats::error_message;
use web::request_context::RequestContext;
use web::uploads::{IncomingFile, UploadProcessor};

use crate::attachments::{attach_file, rejection_message};
use crate::post_cards::own_picture;

/// What a person has entered.
#[derive(Clone)]
struct ProfileDraft {
    name: String,
    description: String,
    location: String,
    url: String,
    is_protected: bool,
    receives_messages: bool,
    /// Stays as it is if there is none.
    time_zone: Option<String>,
}

/// A sentence, at the field with this name.
type ProfileProblem = (&'static str, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProfilePicture {
    Picture,
    Banner,
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    render_settings(&call, &visit, ProfileDraft::from_user(&visit.person.user), None)
}

fn render_settings(
    call: &RequestContext,
    visit: &MemberVisit,
    draft: ProfileDraft,
    problem: Option<ProfileProblem>,
) -> Result<HttpReply, PageExit> {
    let user = &visit.person.user;
    let query = PageQuery::from_call(call).unwrap_or_default();
    let mut frame = visit.page_frame(call);
    frame.notices = query.get("done").map(|_| Notice::success("Your changes were saved.")).into_iter().collect();
    let problem_at = |field: &str| problem.as_ref().filter(|(name, _)| *name == field).map(|(_, text)| text.clone());
    let field = |name: &str, value: String| FormField { value, error: problem_at(name) };
    let site = call.site();
    let picture_form = |part: ProfilePicture| ProfilePictureForm {
        key: part.key(),
        heading: part.heading(),
        help: part.help(),
        url: own_picture(part.url(user), site),
        is_set: !part.url(user).is_empty(),
        file: FormField { value: String::new(), error: problem_at(part.key()) },
    };
    let time_zone = draft.time_zone.unwrap_or_else(|| frame.now.zone.name().to_owned());
    let page = EditProfilePage {
        frame,
        time_zone: field("time_zone", time_zone),
        time_zones: AccountTimeZone::list_names(),
        name: field("name", draft.name),
        description: field("description", draft.description),
        location: field("location", draft.location),
        url: field("url", draft.url),
        is_protected: draft.is_protected,
        receives_messages: draft.receives_messages,
        pictures: ProfilePicture::ALL.map(picture_form),
        form_id: new_form_id(call)?,
    };
    let status = if problem.is_some() { 400 } else { 200 };
    Ok(visit.render_page(call, &page)?.status(status))
}

pub(crate) async fn update(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, form) = MemberVisit::accept_form(&call).await?;
    let user = visit.person.user.id;
    let draft = ProfileDraft::from_form(&form);
    let (new, actor) = (draft.clone(), visit.audit_actor());
    let saved = write_once(&call, user, &form.text("form"), move |tx| new.save(tx, &actor, user));
    match saved.await.split_refusal()? {
        Ok(_) => Ok(redirect_to_settings()),
        Err(refusal) => {
            let problem = ProfileDraft::problem(&refusal);
            render_settings(&call, &visit, draft, Some(problem))
        }
    }
}

fn redirect_to_settings() -> HttpReply {
    redirect_to(&format!("{EDIT_PROFILE_PATH}?done=profile"))
}

pub(crate) async fn update_picture(call: RequestContext) -> Result<HttpReply, PageExit> {
    run_upload_form(call, change_picture).await
}

async fn change_picture(submission: Arc<UploadSubmission>) -> Result<HttpReply, PageExit> {
    let UploadSubmission { call, visit, uploads, form } = &*submission;
    let user = visit.person.user.id;
    let key = form.text("part").unwrap_or_default();
    let part = ProfilePicture::ALL.into_iter().find(|part| part.key() == key);
    let part = part.ok_or_else(|| Refusal::invalid_value("part", key))?;
    let form_id = form.text("form").unwrap_or_default();
    if is_submitted(call, user, form_id).await? {
        return Ok(redirect_to_settings());
    }
    let stored = match (form.text("act"), &form.media) {
        (Some("remove"), _) => Ok(None),
        (_, None) => Err("Choose a file.".to_owned()),
        (_, Some(file)) => {
            let position = crop_position(form.text("keep").unwrap_or_default());
            attach_picture(call, uploads, user, file, (part.shape(), position)).await?.map(Some)
        }
    };
    let media = match stored {
        Ok(media) => media,
        Err(problem) => {
            let draft = ProfileDraft::from_user(&visit.person.user);
            return render_settings(call, visit, draft, Some((part.key(), problem)));
        }
    };
    let (actor, site) = (visit.audit_actor(), call.site().files_url);
    let changed = write_once(call, user, form_id, move |tx| {
        let url = match media {
            Some(id) => store::media::find_by_id(tx, id)?.and_then(|media| view::media_url(&media, site)),
            None => None,
        };
        profiles::update(tx, &actor, user, &part.changes(url.unwrap_or_default()))
    });
    changed.await?;
    Ok(redirect_to_settings())
}

fn crop_position(value: &str) -> CropPosition {
    match value {
        "start" => CropPosition::Start,
        "end" => CropPosition::End,
        _ => CropPosition::Centre,
    }
}

/// Stores a picture, cut to a shape; the inner error is a sentence for the person.
async fn attach_picture(
    call: &RequestContext,
    uploads: &UploadProcessor,
    user: UserId,
    file: &IncomingFile,
    (shape, position): ((u32, u32), CropPosition),
) -> Result<Result<MediaId, String>, Error> {
    if !matches!(MediaFormat::sniff(&file.head), Some(MediaFormat::Jpeg | MediaFormat::Png | MediaFormat::WebP)) {
        return Ok(Err("Choose a JPEG, PNG or WebP file.".to_owned()));
    }
    let mut file = file.clone();
    match uploads.crop_picture(&mut file, shape, position).await? {
        Ok(()) => attach_file(call, uploads, user, &file, "").await,
        Err(rejection) => Ok(Err(rejection_message(&rejection))),
    }
}

impl ProfileDraft {
    fn from_user(user: &User) -> Self {
        Self {
            name: user.name.clone(),
            description: user.description.clone(),
            location: user.location.clone(),
            url: user.url.clone(),
            is_protected: user.protected,
            receives_messages: user.receives_dm,
            time_zone: None,
        }
    }

    fn from_form(form: &SubmittedForm<'_>) -> Self {
        let text = |name| form.text(name).trim().replace("\r\n", "\n");
        Self {
            name: text("name"),
            description: text("description"),
            location: text("location"),
            url: text("url"),
            is_protected: form.optional_text("protected").is_some(),
            receives_messages: form.text("messages") == "everyone",
            time_zone: form.optional_text("time_zone"),
        }
    }

    fn save(&self, tx: &mut Tx<'_>, actor: &AuditActor, user: UserId) -> Result<(), Error> {
        let changes = ProfileChanges {
            name: Some(self.name.clone()),
            description: Some(self.description.clone()),
            location: Some(self.location.clone()),
            url: Some(self.url.clone()),
            ..ProfileChanges::default()
        };
        profiles::update(tx, actor, user, &changes)?;
        profiles::set_protected(tx, actor, user, self.is_protected)?;
        profiles::set_receives_dm(tx, actor, user, self.receives_messages)?;
        match &self.time_zone {
            Some(name) => member_time_zones::set(tx, user, name),
            None => Ok(()),
        }
    }

    fn problem(refusal: &Refusal) -> ProfileProblem {
        match refusal.first_parameter() {
            "name" => ("name", format!("A name has 1 to {NAME_LENGTH} characters, none of them invisible.")),
            "description" => ("description", format!("A bio has at most {BIOGRAPHY_LENGTH} characters.")),
            "location" => ("location", format!("A location has at most {LOCATION_LENGTH} characters.")),
            "url" => {
                ("url", format!("Enter an address such as https://example.com, of at most {URL_LENGTH} characters."))
            }
            "time_zone" => ("time_zone", "Choose a time zone from the list.".to_owned()),
            _ => ("name", error_message(refusal).to_owned()),
        }
    }
}

impl ProfilePicture {
    const ALL: [Self; 2] = [Self::Picture, Self::Banner];

    const fn key(self) -> &'static str {
        match self {
            Self::Picture => "picture",
            Self::Banner => "banner",
        }
    }

    const fn heading(self) -> &'static str {
        match self {
            Self::Picture => "Profile picture",
            Self::Banner => "Banner",
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::Picture => "A JPEG, PNG or WebP file of up to 5 MB. It is cut to a square.",
            Self::Banner => "A JPEG, PNG or WebP file of up to 5 MB. It is cut to be three times as wide as high.",
        }
    }

    /// Width and height, which stand for a proportion.
    const fn shape(self) -> (u32, u32) {
        match self {
            Self::Picture => (1, 1),
            Self::Banner => (3, 1),
        }
    }

    fn url(self, user: &User) -> &str {
        match self {
            Self::Picture => &user.profile_image_url,
            Self::Banner => &user.profile_banner_url,
        }
    }

    fn changes(self, url: String) -> ProfileChanges {
        match self {
            Self::Picture => ProfileChanges { profile_image_url: Some(url), ..ProfileChanges::default() },
            Self::Banner => ProfileChanges { profile_banner_url: Some(url), ..ProfileChanges::default() },
        }
    }
}
