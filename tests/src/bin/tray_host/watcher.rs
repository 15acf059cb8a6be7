//! The bus side: the watcher that programs register their items with, and what is known of the items.

use std::{
    error::Error,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use zbus::{
    blocking::{Connection, Proxy, connection::Builder, fdo::DBusProxy},
    interface,
    message::Header,
    object_server::SignalEmitter,
    zvariant::{OwnedObjectPath, OwnedValue},
};

const NAME: &str = "org.kde.StatusNotifierWatcher";
const PATH: &str = "/StatusNotifierWatcher";

/// A registered item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its program's name on the bus.
    pub bus: String,
    /// Its object.
    pub path: String,
}

#[derive(Default)]
struct Seen {
    items: Vec<Item>,
    registrations: u64,
    layouts: u64,
    properties: u64,
}

/// What was seen, and the bell that rings when it changes.
#[derive(Clone, Default)]
struct Board(Arc<(Mutex<Seen>, Condvar)>);

impl Board {
    fn read(&self) -> MutexGuard<'_, Seen> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.read());
        self.0.1.notify_all();
    }

    /// Waits until `look` finds something, or the time is over.
    fn wait<T>(
        &self,
        timeout_ms: u64,
        what: &str,
        look: impl Fn(&Seen) -> Option<T>,
    ) -> Result<T, Box<dyn Error>> {
        let (seen, _) = (self.0.1)
            .wait_timeout_while(self.read(), Duration::from_millis(timeout_ms), |seen| look(seen).is_none())
            .unwrap_or_else(PoisonError::into_inner);
        look(&seen).ok_or_else(|| format!("waited {timeout_ms} ms in vain for {what}").into())
    }
}

struct Watcher(Board);

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    async fn register_status_notifier_item(
        &self,
        service: String,
        #[zbus(header)] header: Header<'_>,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<()> {
        let sender = header.sender().map(ToString::to_string).unwrap_or_default();
        // Some programs give an object's path, others a name on the bus.
        let item = if service.starts_with('/') {
            Item { bus: sender, path: service }
        } else {
            Item { bus: service, path: "/StatusNotifierItem".to_owned() }
        };
        let name = format!("{}{}", item.bus, item.path);
        self.0.change(|seen| {
            seen.registrations += 1;
            seen.items.retain(|known| *known != item);
            seen.items.push(item);
        });
        Ok(Self::status_notifier_item_registered(&emitter, &name).await?)
    }

    fn register_status_notifier_host(&self, _service: String) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.0.read().items.iter().map(|item| format!("{}{}", item.bus, item.path)).collect()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }

    #[zbus(signal)]
    async fn status_notifier_item_registered(emitter: &SignalEmitter<'_>, service: &str) -> zbus::Result<()>;
}

/// The tray.
pub struct Tray {
    connection: Connection,
    board: Board,
}

impl Tray {
    /// Takes the watcher's name on the session bus and begins to listen.
    pub fn start() -> Result<Self, Box<dyn Error>> {
        let board = Board::default();
        let connection = Builder::session()?.serve_at(PATH, Watcher(board.clone()))?.build()?;
        listen(&connection, &board)?;
        connection.request_name(NAME)?;
        Ok(Self { connection, board })
    }

    /// The item that was registered last.
    fn item(&self) -> Result<Item, Box<dyn Error>> {
        self.board.read().items.last().cloned().ok_or_else(|| "no item is registered".into())
    }

    /// A proxy for the newest item's menu.
    pub fn menu(&self) -> Result<Proxy<'_>, Box<dyn Error>> {
        let item = self.item()?;
        let notifier =
            Proxy::new(&self.connection, item.bus.clone(), item.path, "org.kde.StatusNotifierItem")?;
        let path: OwnedObjectPath = notifier.get_property("Menu")?;
        Ok(Proxy::new(&self.connection, item.bus, path, "com.canonical.dbusmenu")?)
    }

    pub fn wait_item(&self, timeout_ms: u64) -> Result<Value, Box<dyn Error>> {
        let item = self.board.wait(timeout_ms, "a tray item", |seen| seen.items.last().cloned())?;
        let notifier =
            Proxy::new(&self.connection, item.bus.clone(), item.path, "org.kde.StatusNotifierItem")?;
        let text = |name: &str| {
            notifier.get_property::<OwnedValue>(name).ok().and_then(|value| String::try_from(value).ok())
        };
        Ok(json!({
            "bus": item.bus, "id": text("Id"), "title": text("Title"), "status": text("Status"),
            "icon": text("IconName"), "label": text("XAyatanaLabel"),
        }))
    }

    pub fn wait_gone(&self, timeout_ms: u64) -> Result<Value, Box<dyn Error>> {
        self.board.wait(timeout_ms, "the item's end", |seen| seen.items.is_empty().then_some(true.into()))
    }

    pub fn counts(&self) -> Value {
        let seen = self.board.read();
        json!({
            "registrations": seen.registrations, "layouts": seen.layouts, "properties": seen.properties,
            "changes": seen.layouts + seen.properties,
        })
    }

    pub fn wait_change(&self, after: u64, timeout_ms: u64) -> Result<Value, Box<dyn Error>> {
        self.board.wait(timeout_ms, "a change of the menu", |seen| {
            (seen.layouts + seen.properties > after).then_some(())
        })?;
        Ok(self.counts())
    }

    pub fn release(&self) -> Result<Value, Box<dyn Error>> {
        self.board.change(|seen| seen.items.clear());
        Ok(self.connection.release_name(NAME)?.into())
    }

    pub fn own(&self) -> Result<Value, Box<dyn Error>> {
        self.connection.request_name(NAME)?;
        Ok(true.into())
    }
}

/// Follows the menus' signals and the end of programs, each on a thread of its own.
fn listen(connection: &Connection, board: &Board) -> Result<(), Box<dyn Error>> {
    let bus = DBusProxy::new(connection)?;
    let leavers = bus.receive_name_owner_changed()?;
    let on_leave = board.clone();
    thread::spawn(move || {
        for signal in leavers {
            let Ok(args) = signal.args() else { continue };
            if args.new_owner().is_none() {
                let name = args.name().to_string();
                on_leave.change(|seen| seen.items.retain(|item| item.bus != name));
            }
        }
    });
    for (member, count) in
        [("LayoutUpdated", layout as fn(&mut Seen)), ("ItemsPropertiesUpdated", properties)]
    {
        let rule = zbus::MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .interface("com.canonical.dbusmenu")?
            .member(member)?
            .build();
        let signals = zbus::blocking::MessageIterator::for_match_rule(rule, connection, Some(1024))?;
        let board = board.clone();
        thread::spawn(move || signals.flatten().for_each(|_| board.change(count)));
    }
    Ok(())
}

fn layout(seen: &mut Seen) {
    seen.layouts += 1;
}

fn properties(seen: &mut Seen) {
    seen.properties += 1;
}
