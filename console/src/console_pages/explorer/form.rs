//! The form of an operation, and the response to what it sent.

use base::{Error, SplitRefusal, UserId, Vocabulary};
use pages::console::{ExplorerOperationPage, ExplorerResponse, SelectOption};
use pages::{FormField, PageErrorKind};
use portal::{BrowserVisit, PageExit, PageQuery, accept_raw_form, exit_page};
use store::NodeRole;
use store::apps::App;
use web::endpoint::Endpoint;
use web::request_context::{HttpReply, RequestContext};
use web::router::spell_path;

use super::call::{call_operation, command};
use super::credentials::{ExplorerCredential, authorize, choose_app, load_apps};
use super::fields::{BodyKind, OperationField, body_kind, operation_fields, render_field_sets};
use super::request::{ApiRequest, FieldProblem, build_request, is_sandbox_call};
use super::{PATH, api_operations, operation_item};
use crate::refusal_message::refusal_message;
use crate::world_environment::WorldEnvironment;

/// Everything that a page of an operation is made of.
struct ExplorerVisit {
    visit: BrowserVisit,
    endpoint: &'static Endpoint,
    fields: Vec<OperationField>,
    apps: Vec<App>,
    environment: WorldEnvironment,
    vocabulary: Vocabulary,
    /// What was entered: the fields of the form, or the query of the address.
    entered: PageQuery,
}

/// `GET /console/explorer/{operation}`: the query may fill in fields.
pub(super) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let entered = PageQuery::from_call(&call).unwrap_or_default();
    let own = ExplorerVisit::open(&call, visit, entered).await?;
    let page = own.render(&call, None, None);
    Ok(own.visit.render_page(&call, &page)?)
}

pub(super) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let entered = accept_raw_form(&call, &visit).await?;
    let own = ExplorerVisit::open(&call, visit, entered).await?;
    match own.try_operation(&call).await? {
        Ok(response) => {
            let page = own.render(&call, Some(response), None);
            Ok(own.visit.render_page(&call, &page)?)
        }
        Err(problem) => {
            let page = own.render(&call, None, Some(problem));
            Ok(own.visit.render_page(&call, &page)?.status(400))
        }
    }
}

impl ExplorerVisit {
    async fn open(call: &RequestContext, visit: BrowserVisit, entered: PageQuery) -> Result<Self, PageExit> {
        let id = call.path_text("operation")?;
        let endpoint = api_operations(call).find(|endpoint| endpoint.id == id);
        let Some(endpoint) = endpoint else {
            return Err(exit_page(call, &visit, PageErrorKind::NotFound));
        };
        let vocabulary = match entered.get("vocabulary") {
            Some("tweets") => Vocabulary::Tweet,
            _ => Vocabulary::Post,
        };
        let fields = operation_fields(endpoint);
        let (apps, environment) = (load_apps(call).await?, WorldEnvironment::load(call).await?);
        Ok(Self { visit, endpoint, fields, apps, environment, vocabulary, entered })
    }

    /// The inner error is a mistake in the form.
    async fn try_operation(&self, call: &RequestContext) -> Result<Result<ExplorerResponse, FieldProblem>, Error> {
        let request = match build_request(self.endpoint, &self.fields, self.vocabulary, &self.entered) {
            Ok(request) => request,
            Err(problem) => return Ok(Err(problem)),
        };
        let kind = self.credential();
        let user = match self.find_user(call, kind).await.split_refusal()? {
            Ok(user) => user,
            Err(refusal) => return Ok(Err(("user".to_owned(), refusal_message(&refusal)))),
        };
        let app = choose_app(&self.apps, &self.entered);
        let authorization = match authorize(call, kind, app, user, &self.environment, &request).await.split_refusal()? {
            Ok(header) => header,
            Err(refusal) => return Ok(Err((String::new(), refusal_message(&refusal)))),
        };
        if !self.obstacle().is_empty() {
            let curl = command(call, &self.environment, &request, authorization.as_ref());
            return Ok(Ok(command_only(&request, curl)));
        }
        call_operation(call, &self.environment, &request, authorization.as_ref()).await.map(Ok)
    }

    fn credential(&self) -> ExplorerCredential {
        ExplorerCredential::choose(self.entered.get("credential"), self.endpoint.permit)
    }

    async fn find_user(&self, call: &RequestContext, kind: ExplorerCredential) -> Result<Option<UserId>, Error> {
        if !kind.needs_user() {
            return Ok(None);
        }
        let name = self.username();
        call.read(move |tx| Ok(Some(super::super::people::find_user(tx, "user", &name)?.id))).await
    }

    /// The entered one, or the signed-in user, or the first of the demo world.
    fn username(&self) -> String {
        let signed_in = self.visit.person.as_ref().map(|person| person.user.username.as_str());
        let usual = signed_in.or_else(|| self.environment.get("USERNAME")).unwrap_or_default();
        self.entered.get("user").unwrap_or(usual).to_owned()
    }

    /// Why the operation cannot be called here; the command is shown instead.
    fn obstacle(&self) -> &'static str {
        match self.endpoint {
            Endpoint { handler: None, .. } => "This operation is planned; the server refuses it with status 501.",
            Endpoint { role: NodeRole::Stream, .. } => {
                "The response of a stream does not end, so it is not shown here. Run the command, and watch the \
                 connection under Streams."
            }
            _ => "",
        }
    }

    fn render(
        &self,
        call: &RequestContext,
        response: Option<ExplorerResponse>,
        problem: Option<FieldProblem>,
    ) -> ExplorerOperationPage {
        let mut frame = self.visit.page_frame(call);
        let (at_fault, message) = problem.unwrap_or_default();
        if at_fault.is_empty() && !message.is_empty() {
            frame.failure = Some(message.clone());
        }
        let field = |name: &str| {
            let value = self.entered.get(name).unwrap_or_default();
            if name == at_fault { FormField::invalid(value, message.as_str()) } else { FormField::new(value) }
        };
        let user = FormField { value: self.username(), ..field("user") };
        let chosen = choose_app(&self.apps, &self.entered).map(|app| app.id.to_string()).unwrap_or_default();
        let apps = self.apps.iter().map(|app| SelectOption::new(app.id.to_string(), app.name.as_str()));
        let takes_json = body_kind(self.endpoint) == BodyKind::Json && self.endpoint.method != "GET";
        ExplorerOperationPage {
            frame,
            explorer: PATH,
            operation: operation_item(self.endpoint, self.vocabulary),
            vocabularies: self.vocabulary_links(),
            vocabulary: vocabulary_name(self.vocabulary),
            apps: apps.map(|option| option.select_value(&chosen)).collect(),
            credential_options: self.credential().options(self.endpoint.permit),
            user,
            sandbox: self.endpoint.ads.map(|_| is_sandbox_call(self.endpoint, &self.entered)),
            field_sets: render_field_sets(&self.fields, self.vocabulary, field),
            json: takes_json.then(|| field("json")),
            obstacle: self.obstacle(),
            response,
        }
    }

    /// Empty if the operation is the same in both.
    fn vocabulary_links(&self) -> Vec<(String, String, bool)> {
        let differs = |word: &OperationField| word.wire_name(Vocabulary::Post) != word.wire_name(Vocabulary::Tweet);
        let path = |vocabulary| spell_path(self.endpoint.path, vocabulary);
        if path(Vocabulary::Post) == path(Vocabulary::Tweet) && !self.fields.iter().any(differs) {
            return Vec::new();
        }
        let link = |vocabulary| {
            let name = vocabulary_name(vocabulary);
            let address = format!("{PATH}/{}?vocabulary={name}", self.endpoint.id);
            (name.to_owned(), address, vocabulary == self.vocabulary)
        };
        [Vocabulary::Post, Vocabulary::Tweet].map(link).into()
    }
}

const fn vocabulary_name(vocabulary: Vocabulary) -> &'static str {
    match vocabulary {
        Vocabulary::Post => "posts",
        Vocabulary::Tweet => "tweets",
    }
}

fn command_only(request: &ApiRequest, curl: String) -> ExplorerResponse {
    ExplorerResponse {
        status: 0,
        took_ms: 0,
        request_line: format!("{} {}", request.method, request.target),
        request_headers: Vec::new(),
        request_body: request.body.clone(),
        headers: Vec::new(),
        body: String::new(),
        note: String::new(),
        curl,
    }
}
