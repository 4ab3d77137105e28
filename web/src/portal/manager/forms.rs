//! Forms of the Ads Manager: what they ask for, and what they send to the engine.

use ads::access::RequiredRole;
use base::Error;
use base::refusal::{AdsProblem, ProblemLocation};
use pages::Field;
use pages::manager::{AdsManager, Block, Form, Input, InputKind, Link};
use serde_json::Value;
use store::Tx;

use super::ask::Desk;
use super::stand::Sent;
use super::words;

/// What a form does where that is more than to send what was typed.
pub(super) type Work = fn(&mut Tx<'_>, &Desk, &Plan, &Sent) -> Result<Value, Error>;

/// Where one is led when a form was taken.
pub(super) enum Then {
    /// There.
    Path(String),
    /// To what was made, below this.
    Made(String),
}

impl Then {
    /// The path, once it is known what was answered.
    pub(super) fn path(&self, answer: &Value) -> String {
        match self {
            Self::Path(path) => path.clone(),
            Self::Made(path) => {
                let id = answer.pointer("/data/id").and_then(Value::as_str);
                format!("{path}/{}", id.unwrap_or_default())
            }
        }
    }
}

/// A form, and the operation that it sends to.
pub(super) struct Plan {
    /// What it does.
    pub(super) heading: String,
    /// What there is to know before.
    pub(super) lead: String,
    /// What it is below.
    pub(super) trail: Vec<Link>,
    /// The method of the operation.
    pub(super) method: &'static str,
    /// Its path below the account.
    pub(super) path: &'static str,
    /// The ids in that path.
    pub(super) ids: Vec<String>,
    /// What is sent whatever is typed.
    pub(super) fixed: Vec<(&'static str, String)>,
    /// What is asked for.
    pub(super) asks: Vec<Ask>,
    /// What its button says; empty where a button elsewhere sends it.
    pub(super) submit: &'static str,
    /// Whether it takes something away.
    pub(super) danger: bool,
    /// Where the form posts to.
    pub(super) action: String,
    /// Where one goes who does not want to.
    pub(super) back: String,
    /// Where one is led then.
    pub(super) then: Then,
    /// What was done then.
    pub(super) done: &'static str,
    /// How that is done; none: what was typed is sent to the operation.
    pub(super) work: Option<Work>,
    /// Who may; none: whoever may do the operation.
    pub(super) who: Option<RequiredRole>,
    /// What stands above the form.
    pub(super) above: Vec<Block>,
}

/// Something that is asked for.
pub(super) struct Ask {
    pub(super) name: &'static str,
    label: String,
    help: &'static str,
    takes: Takes,
    /// What stands in it at first.
    at_first: String,
    field: Field,
    more: bool,
    /// The parameter that it is sent as; empty where something else makes use of it.
    sends: &'static str,
    /// Further names that refusals have for it.
    answers: &'static [&'static str],
}

enum Takes {
    Text,
    Area,
    Amount,
    Moment,
    Choice(Vec<(String, String)>),
    File(&'static str),
}

impl Ask {
    fn new(name: &'static str, label: &str, takes: Takes) -> Self {
        Self {
            name,
            label: label.to_owned(),
            help: "",
            takes,
            at_first: String::new(),
            field: Field::default(),
            more: false,
            sends: name,
            answers: &[],
        }
    }

    /// A line.
    pub(super) fn text(name: &'static str, label: &str) -> Self {
        Self::new(name, label, Takes::Text)
    }

    /// Lines.
    pub(super) fn area(name: &'static str, label: &str) -> Self {
        Self::new(name, label, Takes::Area)
    }

    /// Money.
    pub(super) fn amount(name: &'static str, label: &str) -> Self {
        Self::new(name, label, Takes::Amount)
    }

    /// A moment, of UTC.
    pub(super) fn moment(name: &'static str, label: &str) -> Self {
        Self::new(name, label, Takes::Moment)
    }

    /// A file of these types, which never comes with other forms.
    pub(super) fn file(name: &'static str, label: &str, types: &'static str) -> Self {
        Self::new(name, label, Takes::File(types)).apart()
    }

    /// Is sent under another name.
    pub(super) fn sent_as(self, sends: &'static str) -> Self {
        Self { sends, ..self }
    }

    /// Is not sent as it is: the work of the form makes use of it.
    pub(super) fn apart(self) -> Self {
        self.sent_as("")
    }

    /// What refusals call it as well.
    pub(super) fn answers(self, answers: &'static [&'static str]) -> Self {
        Self { answers, ..self }
    }

    /// One of some words of the interface.
    pub(super) fn words(name: &'static str, label: &str, all: &[&str]) -> Self {
        let all = all
            .iter()
            .map(|word| ((*word).to_owned(), words::said(word)));
        Self::new(name, label, Takes::Choice(all.collect()))
    }

    /// One of some values, each with its words.
    pub(super) fn choice(name: &'static str, label: &str, all: Vec<(String, String)>) -> Self {
        Self::new(name, label, Takes::Choice(all))
    }

    /// The same, or nothing.
    pub(super) fn or_nothing(mut self, text: &str) -> Self {
        if let Takes::Choice(all) = &mut self.takes {
            all.insert(0, (String::new(), text.to_owned()));
        }
        self
    }

    /// What there is to know about it.
    pub(super) fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// What stands in it at first.
    pub(super) fn at_first(self, value: impl Into<String>) -> Self {
        let at_first = value.into();
        Self {
            field: Field::of(&at_first),
            at_first,
            ..self
        }
    }

    /// Is needed rarely.
    pub(super) fn rarely(self) -> Self {
        Self { more: true, ..self }
    }

    fn input(&self) -> Input {
        Input {
            name: self.name,
            label: self.label.clone(),
            help: self.help.to_owned(),
            field: self.field.clone(),
            kind: match &self.takes {
                Takes::Text => InputKind::Text,
                Takes::Area => InputKind::Area,
                Takes::Amount => InputKind::Amount,
                Takes::Moment => InputKind::Moment,
                Takes::Choice(all) => InputKind::Choice(all.clone()),
                Takes::File(types) => InputKind::File(types),
            },
        }
    }

    /// What was typed, as the engine takes it.
    fn value(&self, typed: &str) -> Result<String, AdsProblem> {
        Ok(match self.takes {
            _ if typed.is_empty() => String::new(),
            Takes::Amount => {
                let micros = words::micros(typed).ok_or_else(|| {
                    let message = "Write an amount as 20.00";
                    AdsProblem::invalid_parameter(self.name, typed, message)
                })?;
                micros.to_string()
            }
            Takes::Moment => words::moment(typed),
            Takes::Text | Takes::Area | Takes::Choice(_) | Takes::File(_) => typed.to_owned(),
        })
    }
}

impl Plan {
    /// Whether it is sent by a button elsewhere, and never shown.
    pub(super) const fn is_silent(&self) -> bool {
        self.submit.is_empty()
    }

    /// Does it; what the engine answers.
    pub(super) fn send(&self, tx: &mut Tx<'_>, desk: &Desk, sent: &Sent) -> Result<Value, Error> {
        if let Some(work) = self.work {
            return work(tx, desk, self, sent);
        }
        let pairs = self.pairs(sent)?;
        desk.ask(tx, self.method, self.path, &self.ids(), &pairs)
    }

    /// The ids in the path of the operation.
    pub(super) fn ids(&self) -> Vec<&str> {
        self.ids.iter().map(String::as_str).collect()
    }

    /// What stood in a field at first.
    pub(super) fn at_first(&self, name: &str) -> &str {
        let found = self.asks.iter().find(|ask| ask.name == name);
        found.map_or("", |ask| ask.at_first.as_str())
    }

    /// What is sent to the engine: of something new what was typed, of a change what is typed
    /// otherwise than it was.
    pub(super) fn pairs(&self, sent: &Sent) -> Result<Vec<(&'static str, String)>, Error> {
        let mut pairs = self.fixed.clone();
        let mut problems = Vec::new();
        for ask in &self.asks {
            let typed = sent.text(ask.name);
            let counts = match self.method {
                "PUT" => typed != ask.at_first,
                _ => !typed.is_empty(),
            };
            if !counts {
                continue;
            }
            match ask.value(typed) {
                Ok(_) if ask.sends.is_empty() => {}
                Ok(value) => pairs.push((ask.sends, value)),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            return Ok(pairs);
        }
        Err(base::Refusal::from(problems).into())
    }

    /// Writes what was typed and what is wrong with it beside the fields; answers what belongs to
    /// none.
    pub(super) fn refuse(&mut self, sent: &Sent, problems: &[AdsProblem]) -> Option<String> {
        for ask in &mut self.asks {
            ask.field = Field::of(sent.text(ask.name));
        }
        let mut rest = Vec::new();
        for problem in problems {
            let name = match &problem.location {
                ProblemLocation::Request => "",
                ProblemLocation::Parameter(name) | ProblemLocation::Attribute(name) => {
                    name.as_ref()
                }
            };
            let sentence = match problem.code {
                "MISSING_PARAMETER" => "This is needed.".to_owned(),
                _ => format!("{}.", problem.message.trim_end_matches('.')),
            };
            let known = |ask: &&mut Ask| ask.name == name || ask.answers.contains(&name);
            match self.asks.iter_mut().find(known) {
                Some(ask) => ask.field.error = Some(sentence),
                None => rest.push(sentence),
            }
        }
        (!rest.is_empty()).then(|| rest.join(" "))
    }

    /// The page that it stands on.
    pub(super) fn page(mut self) -> AdsManager {
        let mut blocks = std::mem::take(&mut self.above);
        let part = |more: bool| {
            let asks = self.asks.iter().filter(move |ask| ask.more == more);
            asks.map(Ask::input).collect::<Vec<Input>>()
        };
        let form = Form {
            action: self.action.clone(),
            inputs: part(false),
            more: part(true),
            submit: self.submit,
            danger: self.danger,
            back: self.back.clone(),
            uploads: (self.asks.iter()).any(|ask| matches!(ask.takes, Takes::File(_))),
        };
        AdsManager {
            heading: self.heading.clone(),
            lead: self.lead.clone(),
            trail: self.trail.clone(),
            blocks: {
                blocks.push(Block::Form(form));
                blocks
            },
            ..AdsManager::default()
        }
    }
}
