//! `patchbay secret`: values that settings refer to instead of holding them. A value is typed without echo or comes
//! from standard input, never from the arguments, which every process can see.

use std::io::{IsTerminal as _, Read as _};

use patchbay_api::{ApiError, ErrorCode, Scope, WorkspaceKey};
use patchbay_config::expand_text;
use patchbay_secrets::{Secret as Value, SecretError, SecretStore};
use serde_json::json;

use crate::args::{Secret, SecretName};
use crate::context::Context;
use crate::exit::Exit;
use crate::prompt;
use crate::table::Table;
use crate::terminal::Style;
use crate::text;

/// The longest value that is read, in bytes.
const MAX_VALUE: u64 = 1 << 20;

/// Does a command of the group.
///
/// # Errors
/// The store cannot be used, or there is no value.
pub async fn run(context: &mut Context, command: Secret) -> Result<Exit, ApiError> {
    if !matches!(command, Secret::List) {
        context.home.ensure().map_err(|error| error.to_api())?;
    }
    let store = SecretStore::file(context.home.dir());
    match command {
        Secret::Set(secret) => set(context, &store, &secret).await,
        Secret::List => list(context, &store),
        Secret::Remove(secret) => remove(context, &store, &secret),
    }
}

async fn set(context: &mut Context, store: &SecretStore, secret: &SecretName) -> Result<Exit, ApiError> {
    let scope = scope(context, secret.project)?;
    check_name(&secret.name)?;
    let value = if std::io::stdin().is_terminal() {
        prompt::hidden(&format!("Value of {}: ", text::one_line(&secret.name))).await?
    } else {
        piped()?
    };
    if value.expose().is_empty() {
        return Err(ApiError::new(ErrorCode::Invalid, "the value is empty; nothing was kept").field("value"));
    }
    store.set(&scope, &secret.name, &value).map_err(|error| failed(&error))?;
    if context.output.json {
        context.output.value(&())?;
        return Ok(Exit::Done);
    }
    let name = text::one_line(&secret.name);
    context.output.line(&format!("Kept {name} in {}", text::one_line(&store.place())));
    context.output.line(&format!("Settings refer to it as ${{secret:{name}}}"));
    Ok(Exit::Done)
}

/// A name that no setting could refer to is refused before a value is asked for.
fn check_name(name: &str) -> Result<(), ApiError> {
    let reference = format!("${{secret:{name}}}");
    let asked = std::cell::RefCell::new(None);
    let found = |asked_name: &str| {
        *asked.borrow_mut() = Some(asked_name.to_owned());
        Ok(Some(String::new()))
    };
    let read = expand_text("name", &reference, &|_| None, &found);
    if read.is_ok_and(|rest| rest.is_empty()) && asked.into_inner().as_deref() == Some(name) {
        return Ok(());
    }
    let message = format!("${{secret:{name}}} could not be written in the settings");
    let hint = "choose a name of letters, digits, `_`, `-` and `.`";
    Err(ApiError::new(ErrorCode::Invalid, message).field("name").hint(hint))
}

/// Standard input up to its end, less one line break there.
fn piped() -> Result<Value, ApiError> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_VALUE + 2).read_to_string(&mut text);
    let value = Value::from(
        text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text)),
    );
    // Overwritten, not only forgotten.
    drop(Value::from(text));
    read.map_err(|error| ApiError::new(ErrorCode::Io, format!("cannot read standard input: {error}")))?;
    Ok(value)
}

fn list(context: &mut Context, store: &SecretStore) -> Result<Exit, ApiError> {
    let mut scopes = vec![Scope::Global];
    scopes.extend(context.workspace()?.map(|path| project(&path)));
    let mut names = Vec::new();
    for scope in scopes {
        let found = store.names(&scope).map_err(|error| failed(&error))?;
        names.extend(found.into_iter().map(|name| (name, scope.clone())));
    }
    if context.output.json {
        let list: Vec<_> =
            names.iter().map(|(name, scope)| json!({ "name": name, "scope": scope.as_str() })).collect();
        context.output.value(&list)?;
        return Ok(Exit::Done);
    }
    if names.is_empty() {
        context.output.line("No secrets yet. Keep one: patchbay secret set NAME");
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["Secret", "For"]);
    for (name, scope) in &names {
        let whose = if *scope == Scope::Global { "your settings" } else { "this project's files" };
        table.row([(Style::Strong, name.as_str()), (Style::Plain, whose)]);
    }
    context.output.table(&table);
    Ok(Exit::Done)
}

fn remove(context: &mut Context, store: &SecretStore, secret: &SecretName) -> Result<Exit, ApiError> {
    let scope = scope(context, secret.project)?;
    if !store.remove(&scope, &secret.name).map_err(|error| failed(&error))? {
        let message = format!("there is no secret called {}", secret.name);
        return Err(
            ApiError::new(ErrorCode::NotFound, message).hint("`patchbay secret list` shows the names")
        );
    }
    if context.output.json {
        context.output.value(&())?;
    } else {
        context.output.line(&text::one_line(&format!("Forgot {}", secret.name)));
    }
    Ok(Exit::Done)
}

fn scope(context: &Context, of_project: bool) -> Result<Scope, ApiError> {
    if !of_project {
        return Ok(Scope::Global);
    }
    let path = context.workspace()?.ok_or_else(|| {
        ApiError::new(ErrorCode::Invalid, "there is no project here")
            .hint("go to its folder, or name it with --workspace DIR")
    })?;
    Ok(project(&path))
}

fn project(path: &str) -> Scope {
    Scope::Project(WorkspaceKey::of(std::path::Path::new(path)))
}

fn failed(error: &SecretError) -> ApiError {
    let code = match error {
        SecretError::Name { .. } | SecretError::TooLong { .. } => ErrorCode::Invalid,
        SecretError::Locked { .. } => ErrorCode::Unavailable,
        _ => ErrorCode::Io,
    };
    let message = match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    let mut error_for_people = ApiError::new(code, message);
    error_for_people.hint = error.hint().map(ToOwned::to_owned);
    error_for_people
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_must_be_one_that_settings_can_refer_to() {
        for good in ["GITHUB_TOKEN", "a.b-c", "my:key", "ключ"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a}b", "a:-b", "a\n", "x}${secret:y", &"n".repeat(201)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
