//! Reads a menu over `com.canonical.dbusmenu` into a tree, and clicks in it.

use std::{collections::HashMap, error::Error};

use serde::Serialize;
use serde_json::Value as Json;
use zbus::zvariant::{OwnedValue, Value};

use crate::watcher::Tray;

type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

/// An entry as a person sees it.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// Its id, for as long as the program keeps the entry.
    pub id: i32,
    /// Its text without mnemonics.
    pub label: String,
    /// `standard` or `separator`.
    pub kind: String,
    /// Whether it can be clicked.
    pub enabled: bool,
    /// Whether it is shown.
    pub visible: bool,
    /// Whether it has its check mark; `None` for an entry that can't have one.
    pub checked: Option<bool>,
    /// The entries below it.
    pub children: Vec<Entry>,
}

impl Entry {
    fn new((id, properties, children): Layout) -> Result<Self, Box<dyn Error>> {
        let text = |name: &str| {
            properties.get(name).and_then(|value| <&str>::try_from(value).ok()).unwrap_or_default()
        };
        let flag =
            |name: &str| properties.get(name).and_then(|value| bool::try_from(value).ok()).unwrap_or(true);
        let state = properties.get("toggle-state").and_then(|value| i32::try_from(value).ok());
        let children =
            children.into_iter().map(|child| Self::new(inner(child)?)).collect::<Result<_, _>>()?;
        Ok(Self {
            id,
            label: plain(text("label")),
            kind: if text("type").is_empty() { "standard".to_owned() } else { text("type").to_owned() },
            enabled: flag("enabled"),
            visible: flag("visible"),
            checked: (!text("toggle-type").is_empty()).then_some(state == Some(1)),
            children,
        })
    }
}

/// Children come as variants, sometimes twice wrapped.
fn inner(value: OwnedValue) -> Result<Layout, Box<dyn Error>> {
    let value = match Value::from(value) {
        Value::Value(inner) => *inner,
        other => other,
    };
    Ok(Layout::try_from(OwnedValue::try_from(value)?)?)
}

/// The label without its mnemonic: one underscore marks the letter after it, two stand for one.
fn plain(label: &str) -> String {
    let mut plain = String::new();
    let mut letters = label.chars();
    while let Some(letter) = letters.next() {
        if letter == '_' {
            plain.extend(letters.next());
        } else {
            plain.push(letter);
        }
    }
    plain
}

/// The newest item's menu with its revision.
pub fn read(tray: &Tray) -> Result<(u32, Entry), Box<dyn Error>> {
    let (revision, root): (u32, Layout) =
        tray.menu()?.call("GetLayout", &(0i32, -1i32, Vec::<String>::new()))?;
    Ok((revision, Entry::new(root)?))
}

/// Clicks the entry that these labels lead to.
pub fn click(tray: &Tray, path: &[String]) -> Result<Json, Box<dyn Error>> {
    let (_, mut entry) = read(tray)?;
    for label in path {
        let labels: Vec<_> = entry.children.iter().map(|child| child.label.clone()).collect();
        let found = entry.children.into_iter().find(|child| child.label == *label && child.visible);
        entry = found.ok_or_else(|| format!("no entry `{label}` among {labels:?}"))?;
    }
    if !entry.enabled {
        return Err(format!("the entry `{}` is greyed out", entry.label).into());
    }
    let _: () = tray.menu()?.call("Event", &(entry.id, "clicked", Value::from(0i32), 0u32))?;
    Ok(entry.id.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_are_taken_out_and_doubled_underscores_are_one() {
        assert_eq!(plain("_Open"), "Open");
        assert_eq!(plain("my__server"), "my_server");
        assert_eq!(plain("a_b__c_"), "ab_c");
        assert_eq!(plain("R&D"), "R&D");
    }
}
