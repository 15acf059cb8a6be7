//! A server's settings as people may see them: names stay readable, values that are or may be secrets are dots.

use std::{borrow::Cow, ops::Range};

use patchbay_api::{MASK, McpServerConfig};

use crate::{
    Redactor,
    looks::is_reference,
    redactor::{merge, replace},
    spans,
};

/// The settings with [`MASK`] in place of every secret: environment and header values, the client secret, user info
/// and keys in addresses, secret-looking arguments. References such as `${TOKEN}` are shown as they are.
#[must_use]
pub fn mask(server: &McpServerConfig, redactor: &Redactor) -> McpServerConfig {
    let mut shown = server.clone();
    shown.env.values_mut().for_each(|value| hide(value, is_shown));
    shown.headers.values_mut().for_each(|value| hide(value, spans::is_shown_header));
    if let Some(secret) = shown.oauth.as_mut().and_then(|oauth| oauth.client_secret.as_mut()) {
        hide(secret, is_shown);
    }
    shown.url = server.url.as_deref().map(|url| masked(url, spans::of_url(url), redactor).into_owned());
    shown.command =
        server.command.as_deref().map(|command| masked(command, Vec::new(), redactor).into_owned());
    shown.args = with_before(&server.args)
        .map(|(before, arg)| masked(arg, spans::of_arg(before, arg), redactor).into_owned())
        .collect();
    shown
}

/// An address with its user info and its secret query values masked.
#[must_use]
pub fn mask_url(url: &str) -> Cow<'_, str> {
    replace(url, &merge(url, spans::of_url(url)), MASK)
}

/// Every value in the settings that [`mask`] hides by its place; references are none.
pub(crate) fn literals(server: &McpServerConfig) -> Vec<String> {
    let client_secret = server.oauth.iter().filter_map(|oauth| oauth.client_secret.as_ref());
    let values = server.env.values().chain(client_secret).filter(|value| !is_shown(value)).cloned();
    let args = with_before(&server.args)
        .flat_map(|(before, arg)| spans::of_arg(before, arg).into_iter().map(|span| arg[span].to_owned()))
        // A header in an argument hides its scheme as well; the token alone is the secret.
        .flat_map(|value| spans::header_secrets(&value).map(ToOwned::to_owned).collect::<Vec<_>>());
    values.chain(args).collect()
}

/// Each argument with the one before it.
pub(crate) fn with_before(args: &[String]) -> impl Iterator<Item = (Option<&str>, &str)> {
    let before = std::iter::once(None).chain(args.iter().map(|arg| Some(arg.as_str())));
    before.zip(args.iter().map(String::as_str))
}

fn is_shown(value: &str) -> bool {
    value.is_empty() || is_reference(value)
}

fn hide(value: &mut String, shown: fn(&str) -> bool) {
    if !shown(value) {
        MASK.clone_into(value);
    }
}

fn masked<'t>(text: &'t str, mut found: Vec<Range<usize>>, redactor: &Redactor) -> Cow<'t, str> {
    found.extend(redactor.spans(text));
    replace(text, &merge(text, found), MASK)
}
