//! Draws the tray's menu and keeps it equal to the model, item by item: a menu that is rebuilt closes under the
//! user's hand, and its items get new ids.

use std::collections::HashMap;
use std::time::Duration;

use patchbay_api::Snapshot;
use patchbay_tray::{Item, menu};
use tauri::menu::{CheckMenuItem, IsMenuItem, Menu, MenuItem, PredefinedMenuItem, Submenu};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Wry};
use tokio::sync::mpsc;

/// How often the tray asks besides the stream (MCP-48).
pub(crate) const POLL: Duration = Duration::from_secs(2);

/// A click on an item.
#[derive(Debug)]
pub(crate) struct Click {
    /// The item's id.
    pub(crate) id: String,
}

/// The drawn tray.
pub(crate) struct Tray {
    app: AppHandle,
    menu: Menu<Wry>,
    handles: HashMap<String, Handle>,
    drawn: Vec<Item>,
    problem: Option<String>,
    revision: Option<u32>,
    _icon: TrayIcon<Wry>,
}

/// The toolkit's side of one item.
enum Handle {
    Text(MenuItem<Wry>),
    Check(CheckMenuItem<Wry>),
    Line(PredefinedMenuItem<Wry>),
    Sub(Submenu<Wry>),
}

impl Handle {
    fn as_item(&self) -> &dyn IsMenuItem<Wry> {
        match self {
            Self::Text(item) => item,
            Self::Check(item) => item,
            Self::Line(item) => item,
            Self::Sub(item) => item,
        }
    }
}

/// Where items stand: the menu itself, or one in it.
enum Level<'a> {
    Top(&'a Menu<Wry>),
    Sub(&'a Submenu<Wry>),
}

impl Level<'_> {
    fn insert(&self, item: &dyn IsMenuItem<Wry>, at: usize) -> tauri::Result<()> {
        match self {
            Self::Top(menu) => menu.insert(item, at),
            Self::Sub(menu) => menu.insert(item, at),
        }
    }

    fn remove(&self, item: &dyn IsMenuItem<Wry>) -> tauri::Result<()> {
        match self {
            Self::Top(menu) => menu.remove(item),
            Self::Sub(menu) => menu.remove(item),
        }
    }
}

impl Tray {
    /// Makes the icon with an empty menu; clicks go to `clicks`.
    pub(crate) fn new(app: &AppHandle, clicks: mpsc::Sender<Click>) -> tauri::Result<Self> {
        let menu = Menu::new(app)?;
        let icon = TrayIconBuilder::with_id("patchbay")
            .icon(tauri::include_image!("icons/tray.png"))
            .tooltip("Patchbay")
            .menu(&menu)
            .on_menu_event(move |_, event| {
                // A full queue means that earlier clicks are still being done: this one is dropped, not delayed.
                if clicks.try_send(Click { id: event.id().0.clone() }).is_err() {
                    tracing::warn!("a click in the tray came too fast and was dropped");
                }
            })
            .build(app)?;
        Ok(Self {
            app: app.clone(),
            menu,
            handles: HashMap::new(),
            drawn: Vec::new(),
            problem: None,
            revision: None,
            _icon: icon,
        })
    }

    /// Shows a snapshot, if it is another one than was shown.
    pub(crate) fn show(&mut self, snapshot: &Snapshot) {
        if self.revision == Some(snapshot.revision) {
            return;
        }
        self.revision = Some(snapshot.revision);
        self.draw(snapshot);
    }

    /// A click has been done, or not: the item clicked shows the truth again (the toolkit flipped it by itself).
    pub(crate) fn settle(&mut self, snapshot: &Snapshot, id: &str, problem: Option<String>) {
        self.problem = problem;
        self.draw(snapshot);
        let truth = flat(&self.drawn).find_map(|item| match item {
            Item::Check { id: item, checked, .. } if item == id => Some(*checked),
            _ => None,
        });
        if let (Some(Handle::Check(handle)), Some(checked)) = (self.handles.get(id), truth) {
            warn_of(handle.set_checked(checked));
        }
    }

    fn draw(&mut self, snapshot: &Snapshot) {
        let wanted = menu(snapshot, self.problem.as_deref()).items;
        let drawn = std::mem::take(&mut self.drawn);
        let menu = self.menu.clone();
        warn_of(self.sync(&Level::Top(&menu), &drawn, &wanted));
        self.drawn = wanted;
    }

    /// Makes one level equal to what is wanted, touching only what differs.
    fn sync(&mut self, level: &Level<'_>, drawn: &[Item], wanted: &[Item]) -> tauri::Result<()> {
        let mut present: Vec<&Item> = Vec::new();
        for item in drawn {
            if wanted.iter().any(|wanted| wanted.id() == item.id()) {
                present.push(item);
            } else if let Some(handle) = self.handles.remove(item.id()) {
                level.remove(handle.as_item())?;
            }
        }
        for (at, item) in wanted.iter().enumerate() {
            match present.iter().position(|drawn| drawn.id() == item.id()) {
                Some(stands) if stands == at => self.update(present[at], item)?,
                Some(stands) => {
                    let moved = present.remove(stands);
                    if let Some(handle) = self.handles.get(item.id()) {
                        level.remove(handle.as_item())?;
                        level.insert(handle.as_item(), at)?;
                    }
                    present.insert(at, moved);
                    self.update(moved, item)?;
                }
                None => {
                    let handle = self.create(item)?;
                    level.insert(handle.as_item(), at)?;
                    self.handles.insert(item.id().to_owned(), handle);
                    present.insert(at, item);
                }
            }
        }
        Ok(())
    }

    fn update(&mut self, drawn: &Item, wanted: &Item) -> tauri::Result<()> {
        if drawn == wanted {
            return Ok(());
        }
        match (self.handles.get(wanted.id()), wanted) {
            (Some(Handle::Text(handle)), Item::Note { text, .. } | Item::Button { text, .. }) => {
                handle.set_text(literal(text))
            }
            (Some(Handle::Check(handle)), Item::Check { text, checked, enabled, .. }) => {
                handle.set_text(literal(text))?;
                handle.set_enabled(*enabled)?;
                handle.set_checked(*checked)
            }
            (Some(Handle::Sub(handle)), Item::Submenu { text, items, .. }) => {
                let handle = handle.clone();
                handle.set_text(literal(text))?;
                let before: &[Item] = if let Item::Submenu { items, .. } = drawn { items } else { &[] };
                self.sync(&Level::Sub(&handle), before, items)
            }
            _ => Ok(()),
        }
    }

    fn create(&mut self, item: &Item) -> tauri::Result<Handle> {
        let app = &self.app;
        Ok(match item {
            Item::Note { id, text } => {
                Handle::Text(MenuItem::with_id(app, id, literal(text), false, None::<&str>)?)
            }
            Item::Button { id, text } => {
                Handle::Text(MenuItem::with_id(app, id, literal(text), true, None::<&str>)?)
            }
            Item::Check { id, text, checked, enabled } => Handle::Check(CheckMenuItem::with_id(
                app,
                id,
                literal(text),
                *enabled,
                *checked,
                None::<&str>,
            )?),
            Item::Separator { .. } => Handle::Line(PredefinedMenuItem::separator(app)?),
            Item::Submenu { id, text, items } => {
                let submenu = Submenu::with_id(app, id, literal(text), true)?;
                self.sync(&Level::Sub(&submenu), &[], items)?;
                Handle::Sub(submenu)
            }
        })
    }
}

/// Names are shown as they are: `&` would mark a key.
fn literal(text: &str) -> String {
    text.replace('&', "&&")
}

fn flat(items: &[Item]) -> impl Iterator<Item = &Item> {
    items.iter().flat_map(|item| {
        let inner: &[Item] = if let Item::Submenu { items, .. } = item { items } else { &[] };
        std::iter::once(item).chain(inner)
    })
}

fn warn_of(result: tauri::Result<()>) {
    if let Err(error) = result {
        tracing::warn!(%error, "the tray's menu could not be changed");
    }
}
