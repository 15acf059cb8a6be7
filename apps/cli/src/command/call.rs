//! `patchbay call`: one call of one tool.

use std::io::Read as _;

use patchbay_api::{ApiError, CallTool, ErrorCode};
use serde_json::Value;

use super::on_road;
use crate::args::Call;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Output;
use crate::road::Need;
use crate::terminal::Style;
use crate::text;

/// The longest arguments that are read from standard input, in bytes.
const MAX_ARGUMENTS: u64 = 64 << 20;

/// Calls a tool and prints its result.
///
/// # Errors
/// The arguments are no JSON object, the call is not permitted, or the server cannot do it.
pub async fn run(context: &mut Context, call: Call) -> Result<Exit, ApiError> {
    let arguments = if call.arguments == "-" { from_input()? } else { call.arguments.clone() };
    check(&arguments)?;
    on_road(context, Need::Servers, async |context, road| {
        let workspace = road.workspace(context).await?;
        let Call { server, tool, .. } = call;
        let answer =
            road.call(CallTool { workspace: workspace.key.clone(), server, tool, arguments }).await?;
        if context.output.json {
            context.output.raw_json(&answer.result);
        } else {
            show(&mut context.output, &answer.result);
        }
        if answer.is_error && !context.output.json {
            context.output.aside(Style::Bad, "error", "the tool reported an error");
        }
        Ok(if answer.is_error { Exit::Failed } else { Exit::Done })
    })
    .await
}

fn from_input() -> Result<String, ApiError> {
    let failed =
        |error: std::io::Error| ApiError::new(ErrorCode::Io, format!("cannot read standard input: {error}"));
    let mut text = String::new();
    std::io::stdin().lock().take(MAX_ARGUMENTS + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_ARGUMENTS {
        let message = format!("the arguments have more than {} MiB", MAX_ARGUMENTS >> 20);
        return Err(ApiError::new(ErrorCode::Invalid, message).field("arguments"));
    }
    Ok(text)
}

/// Checks the arguments here, so that no server is started for what cannot be sent.
fn check(arguments: &str) -> Result<(), ApiError> {
    let wrong = |reason: String| {
        ApiError::new(ErrorCode::Invalid, format!("the arguments are not a JSON object: {reason}"))
            .field("arguments")
            .hint(r#"write them in braces and in quotes for the shell, such as '{"path": "/tmp"}'"#)
    };
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => Ok(()),
        Ok(_) => Err(wrong("it must stand in braces".into())),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// A result for people: texts as they are, what is no text in a few words.
fn show(output: &mut Output, result: &str) {
    let value: Value = serde_json::from_str(result).unwrap_or_default();
    let items = value.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for item in items {
        let shown = content(item);
        output.line(&text::clean(&shown));
    }
    if items.is_empty() {
        let structured = value.get("structuredContent").unwrap_or(&value);
        output.line(&text::clean(&format!("{structured:#}")));
    }
}

fn content(item: &Value) -> String {
    let field = |name: &str| item.get(name).and_then(Value::as_str);
    match field("type") {
        Some("text") => field("text").unwrap_or_default().to_owned(),
        Some(kind @ ("image" | "audio")) => {
            // Four characters of base64 stand for three bytes.
            let bytes = field("data").map_or(0, |data| data.trim_end_matches('=').len() * 3 / 4);
            format!(
                "[{kind}, {}, {bytes} bytes; --json prints it]",
                field("mimeType").unwrap_or("of no said type")
            )
        }
        Some("resource_link") => format!("[link to {}]", field("uri").unwrap_or("nowhere")),
        Some("resource") => {
            let resource = &item["resource"];
            let uri = resource["uri"].as_str().unwrap_or("nowhere");
            match resource["text"].as_str() {
                Some(text) => format!("[resource {uri}]\n{text}"),
                None => format!("[resource {uri}; --json prints it]"),
            }
        }
        _ => item.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_must_be_an_object() {
        assert!(check(r#" {"a": 1} "#).is_ok());
        for (bad, part) in
            [("", "EOF"), ("[1]", "braces"), ("{'a': 1}", "key"), ("{\"a\": 1", "EOF"), ("{} {}", "trailing")]
        {
            let error = check(bad).unwrap_err();
            assert!(error.message.contains(part), "{bad}: {error}");
            assert_eq!(Exit::from(&error), Exit::Wrong);
        }
    }

    #[test]
    fn what_is_no_text_is_told_in_a_few_words() {
        for (item, expected) in [
            (json!({"type": "text", "text": "hi"}), "hi"),
            (
                json!({"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}),
                "[image, image/png, 5 bytes; --json prints it]",
            ),
            (json!({"type": "resource_link", "uri": "file:///x"}), "[link to file:///x]"),
            (json!({"type": "resource", "resource": {"uri": "a:b", "text": "t"}}), "[resource a:b]\nt"),
            (
                json!({"type": "resource", "resource": {"uri": "a:b", "blob": "aGk="}}),
                "[resource a:b; --json prints it]",
            ),
            (json!({"type": "novel"}), r#"{"type":"novel"}"#),
        ] {
            assert_eq!(content(&item), expected);
        }
    }
}
