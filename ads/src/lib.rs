//! The advertising interface: each resource declared once, one engine for all of them.
//!
//! `declare` has the words of a declaration, `operations` what follows from it, `engine` does it.

pub mod access;
pub mod advice;
pub mod analytics;
pub mod answer;
pub mod attribution;
pub mod batch;
pub mod change;
pub mod choices;
pub mod clicks;
pub mod conversations;
pub mod cursor;
pub mod declare;
pub mod desk;
pub mod discretion;
pub mod eligible;
pub mod engine;
pub mod evaluator;
pub mod gazetteer;
pub mod given;
pub mod history;
pub mod house;
pub mod kind;
pub mod ledger;
pub mod letters;
pub mod listing;
pub mod matching;
pub mod members;
pub mod operations;
pub mod people;
pub mod preview;
pub mod publishing;
pub mod record;
pub mod reference;
pub mod request;
pub mod resources;
pub mod run;
pub mod segments;
pub mod serving;
pub mod simulation;
pub mod zone;

pub use answer::Answer;
pub use house::House;
pub use operations::{Does, Operation, Param, all as operations};
pub use request::{Caller, Request};
pub use run::{Answered, indexes, run};
