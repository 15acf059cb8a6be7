//! What `patchbay doctor` found, and how it is shown.

use patchbay_api::Place;
use serde::Serialize;

use crate::output::Output;
use crate::table::Table;
use crate::terminal::Style;

/// How good a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Works, but look at it.
    Warning,
    /// Keeps something from working.
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Finding {
    level: Level,
    subject: String,
    message: String,
    place: Option<String>,
    hint: Option<String>,
}

/// Everything that was looked at, in order.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// Adds one.
    pub fn add(
        &mut self,
        level: Level,
        subject: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Finding {
        let at = self.0.len();
        self.0.push(Finding {
            level,
            subject: subject.into(),
            message: message.into(),
            place: None,
            hint: None,
        });
        &mut self.0[at]
    }

    /// Whether something does not work.
    pub fn has_problem(&self) -> bool {
        self.0.iter().any(|finding| finding.level == Level::Problem)
    }

    /// Shows them.
    pub fn show(&self, output: &mut Output) {
        let mut table = Table::indented(0);
        for finding in &self.0 {
            let (style, word) = match finding.level {
                Level::Ok => (Style::Good, "ok"),
                Level::Warning => (Style::Warning, "warning"),
                Level::Problem => (Style::Bad, "problem"),
            };
            table.row([
                (style, word),
                (Style::Strong, finding.subject.as_str()),
                (Style::Plain, finding.message.as_str()),
            ]);
            if let Some(place) = &finding.place {
                table.place(place);
            }
            if let Some(hint) = &finding.hint {
                table.note(Style::Plain, &format!("next: {hint}"));
            }
        }
        output.table(&table);
    }
}

impl Finding {
    /// Says where it is.
    pub fn at(&mut self, place: &Place) -> &mut Self {
        self.place = Some(place.to_string());
        self
    }

    /// Says what to do.
    pub fn next(&mut self, hint: Option<impl Into<String>>) {
        self.hint = hint.map(Into::into);
    }
}
