//! What a server offers, as it said it: definitions stay raw, one odd tool drops that tool alone.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::connection::{Lane, LaneError};

/// Bounds on one server's list, against a server that never ends it.
const MAX_PAGES: usize = 1_000;
const MAX_TOOLS: usize = 20_000;

/// The tools of one server at one time.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Tools in the server's order.
    pub tools: Vec<Tool>,
    /// What was left out: the tool's name where it has one, and why.
    pub dropped: Vec<(String, String)>,
    /// The names taken so far.
    names: HashSet<String>,
}

/// One tool.
#[derive(Debug)]
pub struct Tool {
    /// The server's own name for it.
    pub name: String,
    /// Its description, as text.
    pub description: String,
    /// The whole definition, unchanged.
    pub definition: Box<RawValue>,
}

/// The part of a `tools/list` result that is looked at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow, default)]
    tools: Option<Vec<&'a RawValue>>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outline<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    description: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input_schema: Option<&'a RawValue>,
}

impl Catalogue {
    /// Lists a server's tools, all pages (MCP `tools/list`).
    ///
    /// # Errors
    /// The lane's, or a list that is none or never ends.
    pub(crate) async fn fetch(lane: &Lane) -> Result<Self, LaneError> {
        let mut catalogue = Self::default();
        let (mut cursor, mut seen) = (None::<String>, HashSet::new());
        for _ in 0..MAX_PAGES {
            let params = cursor.as_ref().map(|cursor| serde_json::json!({ "cursor": cursor }).to_string());
            let params = params.and_then(|params| RawValue::from_string(params).ok());
            let page = lane.request("tools/list", params.as_deref()).await?;
            let page: Page<'_> = serde_json::from_str(page.get()).map_err(|error| {
                LaneError::Protocol(format!("the server's list of tools cannot be read: {error}"))
            })?;
            page.tools.unwrap_or_default().into_iter().for_each(|tool| catalogue.add(tool));
            match page.next_cursor {
                Some(next) if catalogue.tools.len() <= MAX_TOOLS && seen.insert(next.clone()) => {
                    cursor = Some(next)
                }
                Some(_) => return Err(LaneError::Protocol("the server's list of tools never ends".into())),
                None => return Ok(catalogue),
            }
        }
        Err(LaneError::Protocol("the server's list of tools never ends".into()))
    }

    fn add(&mut self, tool: &RawValue) {
        let outline: Outline<'_> = match serde_json::from_str(tool.get()) {
            Ok(outline) => outline,
            Err(error) => {
                return self.dropped.push((String::new(), format!("its definition cannot be read: {error}")));
            }
        };
        let Some(name) = outline.name.filter(|name| !name.is_empty()) else {
            return self.dropped.push((String::new(), "it has no name".into()));
        };
        let name = name.into_owned();
        if !self.names.insert(name.clone()) {
            return self.dropped.push((name, "the server lists it twice; the first counts".into()));
        }
        if !outline.input_schema.is_some_and(|schema| schema.get().starts_with('{')) {
            return self.dropped.push((name, "its input schema is missing or no object".into()));
        }
        let description =
            outline.description.and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default();
        self.tools.push(Tool { name, description, definition: tool.to_owned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_odd_tool_drops_that_tool_alone() {
        let list = [
            r#"{"name":"good","inputSchema":{},"x-vendor":1.0,"annotations":{"title":"T","odd":[]}}"#,
            r#"{"name":"good","inputSchema":{}}"#,
            r#"{"name":"no-schema"}"#,
            r#"{"name":"null-schema","inputSchema":null}"#,
            r#"{"inputSchema":{}}"#,
            r#"{"name":7,"inputSchema":{}}"#,
            r#""text""#,
            r##"{"name":"odd-description","description":5,"inputSchema":{"$ref":"#/x"}}"##,
        ];
        let mut catalogue = Catalogue::default();
        for tool in list {
            catalogue.add(&RawValue::from_string(tool.into()).unwrap());
        }
        let names: Vec<_> = catalogue.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["good", "odd-description"]);
        assert_eq!(catalogue.tools[0].definition.get(), list[0]);
        assert_eq!(catalogue.dropped.len(), 6);
    }
}
