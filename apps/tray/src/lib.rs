//! The tray's menu as a pure value: what it shows for a snapshot, and what a click means.
//!
//! Knows no toolkit. The desktop draws it and keeps what is drawn equal to it.

use patchbay_api::{ServerState, ServerSummary, Snapshot};

/// Longest label, in characters; a menu wider than the screen is of no use.
const MAX_LABEL: usize = 60;

/// The menu, top to bottom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Menu {
    /// Its items.
    pub items: Vec<Item>,
}

/// One item. Its id stays the same for as long as it is about the same thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// Text that cannot be clicked.
    Note {
        /// Its id.
        id: String,
        /// What it says.
        text: String,
    },
    /// Something to do.
    Button {
        /// Its id.
        id: String,
        /// What it says.
        text: String,
    },
    /// A server that is on or off.
    Check {
        /// Its id.
        id: String,
        /// What it says.
        text: String,
        /// Whether it is on.
        checked: bool,
        /// Whether it can be clicked.
        enabled: bool,
    },
    /// A line between groups.
    Separator {
        /// Its id.
        id: String,
    },
    /// A menu in the menu.
    Submenu {
        /// Its id.
        id: String,
        /// What it says.
        text: String,
        /// Its items.
        items: Vec<Item>,
    },
}

impl Item {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Note { id, .. }
            | Self::Button { id, .. }
            | Self::Check { id, .. }
            | Self::Separator { id }
            | Self::Submenu { id, .. } => id,
        }
    }
}

/// What a click means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Open the window.
    Open,
    /// Open the window on the settings.
    Settings,
    /// End everything.
    Quit,
    /// Switch a global server on or off.
    SetServer {
        /// The server.
        name: String,
        /// Whether it shall be on.
        enabled: bool,
    },
}

/// The menu for a snapshot (MCP-48). `problem`: why the last click did not do what it should.
#[must_use]
pub fn menu(snapshot: &Snapshot, problem: Option<&str>) -> Menu {
    let mut items = vec![Item::Note { id: "state".into(), text: state_line(snapshot) }];
    if let Some(problem) = problem {
        items.push(Item::Note { id: "problem".into(), text: shorten(problem) });
    }
    if let Some(text) = questions(snapshot.questions.len()) {
        items.push(Item::Button { id: "questions".into(), text });
    }
    items.push(Item::Separator { id: "line-1".into() });
    items.push(Item::Button { id: "open".into(), text: "Open Patchbay".into() });
    items.push(Item::Submenu { id: "servers".into(), text: "MCP servers".into(), items: servers(snapshot) });
    items.push(Item::Button { id: "settings".into(), text: "Settings…".into() });
    items.push(Item::Separator { id: "line-2".into() });
    items.push(Item::Button { id: "quit".into(), text: "Quit".into() });
    Menu { items }
}

/// What a click on the item with this id means, as the menu stands in this snapshot.
#[must_use]
pub fn action(snapshot: &Snapshot, id: &str) -> Option<Action> {
    match id {
        "open" | "questions" => Some(Action::Open),
        "settings" => Some(Action::Settings),
        "quit" => Some(Action::Quit),
        _ => {
            let server =
                snapshot.config.servers.iter().find(|server| server_id(server).as_deref() == Some(id))?;
            let name = server.name.as_ref()?.to_string();
            server.invalid.is_none().then_some(Action::SetServer { name, enabled: !server.enabled })
        }
    }
}

fn server_id(server: &ServerSummary) -> Option<String> {
    server.name.as_ref().map(|name| format!("server:{name}"))
}

fn servers(snapshot: &Snapshot) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for server in &snapshot.config.servers {
        let Some((id, name)) = server_id(server).zip(server.name.as_ref()) else { continue };
        // Of two entries with one name the later is invalid: the first has the item.
        if items.iter().any(|item| item.id() == id) {
            continue;
        }
        let valid = server.invalid.is_none();
        let text =
            if valid { shorten(name.as_str()) } else { format!("{} (invalid)", shorten(name.as_str())) };
        items.push(Item::Check { id, text, checked: valid && server.enabled, enabled: valid });
    }
    if items.is_empty() {
        items.push(Item::Note {
            id: "no-servers".into(),
            text: "No servers yet: add them in Settings".into(),
        });
    }
    items
}

fn shorten(name: &str) -> String {
    if name.chars().count() <= MAX_LABEL {
        return name.to_owned();
    }
    name.chars().take(MAX_LABEL - 1).chain(['…']).collect()
}

fn state_line(snapshot: &Snapshot) -> String {
    if snapshot.config.broken.is_some() {
        return "The settings file has a problem".into();
    }
    let servers = &snapshot.config.servers;
    let count = |wanted: fn(&ServerSummary) -> bool| servers.iter().filter(|server| wanted(server)).count();
    let total = servers.len();
    if total == 0 {
        return "No servers yet".into();
    }
    let on = count(|server| server.enabled && server.invalid.is_none());
    let mut line = format!("{on} of {total} servers on");
    type Wanted = fn(&ServerSummary) -> bool;
    let parts: [(Wanted, &str); 4] = [
        (|server| server.state == Some(ServerState::Connected), "connected"),
        (|server| server.state == Some(ServerState::NeedsSignIn), "to sign in"),
        (|server| server.state == Some(ServerState::Failed), "failed"),
        (|server| server.invalid.is_some(), "invalid"),
    ];
    for (wanted, word) in parts {
        let number = count(wanted);
        if number > 0 {
            line = format!("{line}, {number} {word}");
        }
    }
    line
}

fn questions(waiting: usize) -> Option<String> {
    match waiting {
        0 => None,
        1 => Some("1 question waits for you".into()),
        many => Some(format!("{many} questions wait for you")),
    }
}

#[cfg(test)]
mod tests;
