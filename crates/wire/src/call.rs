//! What a tool call needs to know before the decision and after the result: the name, and two flags.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{
    WireError,
    scan::{self, Member, members},
};

/// The parameters of `tools/call`, unread but for the name.
#[derive(Debug, Clone)]
pub struct CallParams<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// Its arguments.
    pub arguments: Option<&'a RawValue>,
    /// `_meta`.
    pub meta: Option<&'a RawValue>,
}

impl<'a> CallParams<'a> {
    /// Reads the parameters of a call.
    ///
    /// # Errors
    /// No object, no name, or more than one reading: a second `name` or `arguments`, also in another case, which
    /// some servers would take instead of the one that was judged.
    pub fn decode(params: &'a RawValue) -> Result<Self, WireError> {
        let text = params.get();
        let (mut name, mut arguments, mut meta) = (None, None, None);
        for member in members(text).ok_or(WireError::NotAnObject("params"))? {
            let value = member.value.clone();
            match known(text, &member) {
                Some((key, exact)) => {
                    let place = if key == "name" { &mut name } else { &mut arguments };
                    if !exact || place.replace(value).is_some() {
                        return Err(WireError::Ambiguous(key));
                    }
                }
                None if member.is(text, "_meta") => meta = Some(value),
                None => {}
            }
        }
        let name = name.and_then(|value| scan::text(&text[value])).ok_or(WireError::NoName)?;
        let raw = |value| serde_json::from_str(&text[value]).ok();
        Ok(Self { name, arguments: arguments.and_then(raw), meta: meta.and_then(raw) })
    }

    /// `_meta.progressToken`, where the caller wants progress.
    #[must_use]
    pub fn progress_token(&self) -> Option<&'a RawValue> {
        let text = self.meta?.get();
        let member = members(text)?.filter(|member| member.is(text, "progressToken")).last()?;
        serde_json::from_str(&text[member.value]).ok().filter(|token: &&RawValue| token.get() != "null")
    }
}

/// Which of the deciding keys this is, if one, and whether it is spelled exactly so.
fn known(text: &str, member: &Member) -> Option<(&'static str, bool)> {
    let key = scan::text(&text[member.key.clone()])?;
    ["name", "arguments"].into_iter().find(|known| folds_to(&key, known)).map(|known| (known, key == known))
}

/// Equal when case is ignored as lenient readers do it, for whom the long s is an s as well.
fn folds_to(key: &str, known: &str) -> bool {
    let fold = |c: char| if c == 'ſ' { 's' } else { c.to_ascii_lowercase() };
    key.len() <= 2 * known.len() && key.chars().map(fold).eq(known.chars())
}

/// What the engine looks at in a result; all else passes through unread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultFlags<'a> {
    /// `isError`: the tool reports an error of its own.
    pub is_error: bool,
    /// `resultType`, such as `input_required`; `None` where it is not there.
    pub result_type: Option<Cow<'a, str>>,
}

/// Finds the flags of a result without reading the rest.
#[must_use]
pub fn result_flags(result: &RawValue) -> ResultFlags<'_> {
    let text = result.get();
    let mut flags = ResultFlags::default();
    for member in members(text).into_iter().flatten() {
        if member.is(text, "isError") {
            flags.is_error = &text[member.value] == "true";
        } else if member.is(text, "resultType") {
            flags.result_type = scan::text(&text[member.value]);
        }
    }
    flags
}
