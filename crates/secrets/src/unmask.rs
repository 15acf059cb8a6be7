//! The way back from a masked form: what the person left as dots keeps the value that the file has.

use std::collections::BTreeMap;

use patchbay_api::{ApiError, ErrorCode, MASK, McpServerConfig};

use crate::{
    Redactor,
    mask::{mask, with_before},
};

/// The draft with current values in place of what [`mask`] had hidden. `current` is the server that the draft was
/// made from; for a new one, the default.
///
/// # Errors
/// `Invalid`, naming the field: dots stand where no current value belongs, or next to other text.
pub fn unmask(
    mut draft: McpServerConfig,
    current: &McpServerConfig,
    redactor: &Redactor,
) -> Result<McpServerConfig, ApiError> {
    let shown = mask(current, redactor);
    whole(&mut draft.command, shown.command.as_ref(), current.command.as_ref(), "command")?;
    whole(&mut draft.url, shown.url.as_ref(), current.url.as_ref(), "url")?;
    if let Some(oauth) = &mut draft.oauth {
        let secret =
            |server: &McpServerConfig| server.oauth.as_ref().and_then(|oauth| oauth.client_secret.clone());
        whole(
            &mut oauth.client_secret,
            secret(&shown).as_ref(),
            secret(current).as_ref(),
            "oauth.client_secret",
        )?;
    }
    by_key(&mut draft.env, &current.env, "env", |a, b| a == b)?;
    by_key(&mut draft.headers, &current.headers, "headers", str::eq_ignore_ascii_case)?;
    draft.args = arguments(&draft.args, &shown.args, &current.args)?;
    Ok(draft)
}

fn whole(
    draft: &mut Option<String>,
    shown: Option<&String>,
    current: Option<&String>,
    field: &str,
) -> Result<(), ApiError> {
    if draft.as_ref().is_some_and(|value| value.contains(MASK)) {
        if draft.as_ref() != shown {
            return Err(unknown(field, field));
        }
        *draft = current.cloned();
    }
    Ok(())
}

fn by_key(
    draft: &mut BTreeMap<String, String>,
    current: &BTreeMap<String, String>,
    field: &str,
    same: fn(&str, &str) -> bool,
) -> Result<(), ApiError> {
    for (key, value) in draft.iter_mut().filter(|(_, value)| value.contains(MASK)) {
        let found = current
            .get(key)
            .or_else(|| current.iter().find(|(name, _)| same(name, key)).map(|(_, value)| value));
        match found {
            Some(found) if value == MASK => value.clone_from(found),
            _ => return Err(unknown(field, key)),
        }
    }
    Ok(())
}

/// Hidden arguments are found again by their text and the option before them, so that others may be added, removed
/// and moved around them. Where two are alike, each must still be there.
fn arguments(draft: &[String], shown: &[String], current: &[String]) -> Result<Vec<String>, ApiError> {
    let keys: Vec<_> = with_before(shown).map(context).collect();
    let wanted: Vec<_> = with_before(draft).map(context).collect();
    let mut result = Vec::with_capacity(draft.len());
    for (index, key) in wanted.iter().enumerate() {
        if !key.1.contains(MASK) {
            result.push(draft[index].clone());
            continue;
        }
        let places: Vec<usize> = (0..keys.len()).filter(|place| keys[*place] == *key).collect();
        let nth = wanted[..index].iter().filter(|other| *other == key).count();
        let count = wanted.iter().filter(|other| *other == key).count();
        let same = places.iter().all(|place| current[*place] == current[places[0]]);
        let place = if same { places.first() } else { places.get(nth).filter(|_| places.len() == count) };
        let place = *place.ok_or_else(|| unknown("args", &format!("argument {}", index + 1)))?;
        result.push(current[place].clone());
    }
    Ok(result)
}

/// What a hidden argument is known by.
fn context<'a>((before, arg): (Option<&'a str>, &'a str)) -> (Option<&'a str>, &'a str) {
    (before.filter(|before| before.starts_with('-')), arg)
}

fn unknown(field: &str, what: &str) -> ApiError {
    let message = format!("`{what}` holds {MASK}, but no stored value belongs there");
    ApiError::new(ErrorCode::Invalid, message)
        .field(field)
        .hint("Write the whole value anew, or a reference such as ${secret:NAME}.")
}
