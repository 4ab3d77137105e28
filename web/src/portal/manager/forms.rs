//! Forms of the Ads Manager: what they ask for, and what they send to the engine.

use base::Stop;
use base::refusal::{At, Problem};
use pages::Field;
use pages::manager::{AdsManager, Block, Form, Input, InputKind, Link};

use super::stand::Sent;
use super::words;

/// Where one is led when a form was taken.
pub(super) enum Then {
    /// There.
    Path(String),
    /// To what was made, below this.
    Made(String),
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
}

enum Takes {
    Text,
    Area,
    Amount,
    Moment,
    Choice(Vec<(String, String)>),
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
            },
        }
    }

    /// What was typed, as the engine takes it.
    fn value(&self, typed: &str) -> Result<String, Problem> {
        Ok(match self.takes {
            _ if typed.is_empty() => String::new(),
            Takes::Amount => {
                let micros = words::micros(typed).ok_or_else(|| {
                    let message = "Write an amount as 20.00";
                    Problem::parameter(self.name, typed, message)
                })?;
                micros.to_string()
            }
            Takes::Moment => words::moment(typed),
            Takes::Text | Takes::Area | Takes::Choice(_) => typed.to_owned(),
        })
    }
}

impl Plan {
    /// Whether it is sent by a button elsewhere, and never shown.
    pub(super) const fn is_silent(&self) -> bool {
        self.submit.is_empty()
    }

    /// What is sent to the engine: of something new what was typed, of a change what is typed
    /// otherwise than it was.
    pub(super) fn pairs(&self, sent: &Sent) -> Result<Vec<(&'static str, String)>, Stop> {
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
                // One of a list, or others by their ids.
                Ok(value) if ask.name == "pick" => pairs.push(("post_ids", value)),
                Ok(value) => pairs.push((ask.name, value)),
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
    pub(super) fn refuse(&mut self, sent: &Sent, problems: &[Problem]) -> Option<String> {
        for ask in &mut self.asks {
            ask.field = Field::of(sent.text(ask.name));
        }
        let mut rest = Vec::new();
        for problem in problems {
            let name = match &problem.at {
                At::Request => "",
                At::Parameter(name) | At::Attribute(name) => name.as_ref(),
            };
            let sentence = match problem.code {
                "MISSING_PARAMETER" => "This is needed.".to_owned(),
                _ => format!("{}.", problem.message.trim_end_matches('.')),
            };
            match self.asks.iter_mut().find(|ask| ask.name == name) {
                Some(ask) => ask.field.error = Some(sentence),
                None => rest.push(sentence),
            }
        }
        (!rest.is_empty()).then(|| rest.join(" "))
    }

    /// The page that it stands on.
    pub(super) fn page(&self) -> AdsManager {
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
        };
        AdsManager {
            heading: self.heading.clone(),
            lead: self.lead.clone(),
            trail: self.trail.clone(),
            blocks: vec![Block::Form(form)],
            ..AdsManager::default()
        }
    }
}
