//! The walls of the house: which room uses which, who knows which library, pinned versions, licences.
//! What the files themselves must keep to is in `text`.

mod licence;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use serde_json::Value;

/// The rooms from the floor up. A room uses only rooms that stand before it.
const ROOMS: [&str; 16] = [
    "patchbay-api",
    "patchbay-wire",
    "patchbay-config",
    "patchbay-secrets",
    "patchbay-records",
    "patchbay-exec",
    "patchbay-engine",
    "patchbay-gateway",
    "patchbay-hub",
    "patchbay-control",
    "patchbay",
    "patchbay-tray",
    "patchbay-sample",
    "patchbay-cli",
    "patchbay-desktop",
    "patchbay-tests",
];

/// Libraries that only some rooms may know, by the start of their name.
const RESERVED: [(&str, &[&str]); 4] = [
    ("rmcp", &["patchbay-engine", "patchbay-gateway", "patchbay"]),
    ("tauri", &["patchbay-desktop"]),
    ("specta", &["patchbay-api", "patchbay-desktop"]),
    ("anyhow", &["patchbay-cli", "patchbay-desktop", "patchbay-tests"]),
];

/// The workspace's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// What cargo knows of the workspace and of every package that it uses on any system.
fn metadata() -> &'static Value {
    static METADATA: OnceLock<Value> = OnceLock::new();
    METADATA.get_or_init(|| {
        #[expect(clippy::disallowed_methods, reason = "asks cargo, waits for its end")]
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--offline", "--locked"])
            .current_dir(root())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    })
}

fn packages() -> impl Iterator<Item = &'static Value> {
    metadata()["packages"].as_array().unwrap().iter()
}

fn members() -> impl Iterator<Item = &'static Value> {
    let ids: BTreeSet<_> =
        metadata()["workspace_members"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    packages().filter(move |package| ids.contains(text(package, "id")))
}

fn text(value: &'static Value, key: &str) -> &'static str {
    value[key].as_str().unwrap_or_default()
}

/// Every dependency of every member: the member's name and the dependency.
fn dependencies() -> impl Iterator<Item = (&'static str, &'static Value)> {
    members().flat_map(|member| {
        member["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(move |dependency| (text(member, "name"), dependency))
    })
}

fn holds(what: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{what}:\n  {}", broken.join("\n  "));
}

#[test]
fn a_room_uses_only_rooms_above_it() {
    let place = |name: &str| ROOMS.iter().position(|room| *room == name);
    let unknown: Vec<_> = members()
        .map(|member| text(member, "name"))
        .filter(|name| place(name).is_none())
        .map(str::to_owned)
        .collect();
    holds("members that ROOMS does not list", &unknown);
    let upwards: Vec<_> = dependencies()
        .filter(|(_, dependency)| dependency["path"].is_string())
        // The shared fixtures are for every room's tests.
        .filter(|(_, dependency)| !(text(dependency, "kind") == "dev" && dependency["name"] == "patchbay-tests"))
        .filter(|(room, dependency)| place(text(dependency, "name")) >= place(room))
        .map(|(room, dependency)| format!("{room} uses {}", dependency["name"]))
        .collect();
    holds("rooms that use what stands below them", &upwards);
}

#[test]
fn only_the_rooms_meant_for_it_know_a_reserved_library() {
    let known: Vec<_> = dependencies()
        .filter(|(room, dependency)| {
            let name = text(dependency, "name");
            let test_only = name == "anyhow" && text(dependency, "kind") == "dev";
            !test_only
                && RESERVED.iter().any(|(library, rooms)| name.starts_with(library) && !rooms.contains(room))
        })
        .map(|(room, dependency)| format!("{room} uses {}", dependency["name"]))
        .collect();
    holds("libraries outside the rooms meant for them", &known);
}

#[test]
fn api_asks_for_specta_only_where_the_desktop_wants_types() {
    let always: Vec<_> = dependencies()
        .filter(|(room, dependency)| {
            *room == "patchbay-api" && text(dependency, "name").starts_with("specta")
        })
        .filter(|(_, dependency)| dependency["optional"] != true)
        .map(|(_, dependency)| dependency["name"].to_string())
        .collect();
    holds("not optional", &always);
}

#[test]
fn every_dependency_is_pinned_to_one_version() {
    let loose: Vec<_> = dependencies()
        .filter(|(_, dependency)| {
            !dependency["path"].is_string() && !text(dependency, "req").starts_with('=')
        })
        .map(|(room, dependency)| format!("{room}: {} {}", dependency["name"], dependency["req"]))
        .collect();
    holds("requirements without `=`", &loose);
}

#[test]
fn npm_dependencies_are_pinned_to_one_version() {
    let package: Value =
        serde_json::from_slice(&std::fs::read(root().join("package.json")).unwrap()).unwrap();
    let sections = ["dependencies", "devDependencies"].map(|section| package[section].as_object().unwrap());
    let loose: Vec<_> = sections
        .iter()
        .flat_map(|section| section.iter())
        .filter(|(_, version)| !version.as_str().unwrap().starts_with(|first: char| first.is_ascii_digit()))
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    holds("npm packages without an exact version", &loose);
}

#[test]
fn the_licence_of_every_package_is_one_that_deny_toml_allows() {
    let deny: toml_edit::DocumentMut =
        std::fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let allowed: Vec<_> = deny["licenses"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|licence| licence.as_str().unwrap())
        .collect();
    let refused: Vec<_> = packages()
        .filter(|package| !licence::allowed(text(package, "license"), &allowed))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    holds("packages with another licence, or none", &refused);
    assert!(packages().count() > 300, "the whole tree is looked at");
}
