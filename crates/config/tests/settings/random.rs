//! Random files, random edits. Judged by another parser and by bytes, never by the code that made the edit.

use std::{collections::BTreeMap, ops::Range, sync::Mutex};

use patchbay_api::{HealthCheck, McpServerConfig, TransportKind};
use patchbay_config::{ConfigSnapshot, Edit, edit_bytes};

use super::{
    document::{Dice, Document, document},
    oracle,
};

/// Random cases in one run of the tests.
const CASES: u64 = 10_400;
/// How often each spelling and each kind of edit has to come up.
const AT_LEAST: usize = 100;

const FORMS: &[&str] = &[
    "[[mcp.servers]]",
    "quoted headers",
    "servers = [ ] under [mcp]",
    "dotted mcp.servers",
    "servers in an inline mcp",
    "no servers in an inline mcp",
    "[mcp] behind its servers",
    "an empty list",
    "a list on one line",
    "a list on many lines",
    "sub-tables",
    "sub-tables far from their server",
    "inline tables",
    "dotted keys",
    "lists on many lines",
    "nested lists",
    "comment at the end of a line",
    "comment of its own",
    "comment above a server",
    "comment below a server",
    "unknown keys of a server",
    "numbers",
    "floats",
    "dates",
    "switches",
    "literal texts",
    "texts with escapes",
    "texts on many lines",
    "CRLF",
    "BOM",
    "no line break at the end",
    "edit: add",
    "edit: remove the first",
    "edit: remove a middle one",
    "edit: remove the last",
    "edit: switch off",
    "edit: switch on",
    "edit: save unchanged",
    "edit: replace one value",
    "edit: replace several",
    "edit: other transport",
    "edit: rename",
];

#[test]
fn whatever_the_file_looks_like_an_edit_changes_what_it_is_about_and_nothing_else() {
    let counts = Mutex::new(BTreeMap::<&'static str, usize>::new());
    std::thread::scope(|scope| {
        for half in 0..2 {
            let counts = &counts;
            scope.spawn(move || {
                let mut own = BTreeMap::<&'static str, usize>::new();
                for seed in (half..CASES).step_by(2) {
                    for form in case(&mut Dice::new(seed), &format!("seed {seed}")) {
                        *own.entry(form).or_default() += 1;
                    }
                }
                let mut counts = counts.lock().unwrap();
                for (form, count) in own {
                    *counts.entry(form).or_default() += count;
                }
            });
        }
    });
    let counts = counts.into_inner().unwrap();
    let rare: Vec<_> =
        FORMS.iter().filter(|form| counts.get(*form).copied().unwrap_or(0) < AT_LEAST).collect();
    assert!(rare.is_empty(), "came up less than {AT_LEAST} times: {rare:?} of {counts:?}");
}

/// One file, one edit, and every judgement. Answers what came up.
pub fn case(dice: &mut Dice, label: &str) -> Vec<&'static str> {
    let doc = document(dice);
    let judge = Judge::new(&doc, label);
    let kind = judge.random_edit(dice);
    doc.forms.iter().copied().chain([kind]).collect()
}

struct Judge<'d> {
    doc: &'d Document,
    label: String,
    snapshot: ConfigSnapshot,
    servers: Vec<oracle::Table>,
    rest: oracle::Table,
}

impl<'d> Judge<'d> {
    fn new(doc: &'d Document, label: &str) -> Self {
        let text = &doc.text;
        let (servers, rest) =
            oracle::split(oracle::parse(text).unwrap_or_else(|e| panic!("{label}: {e}\n{text}")));
        let snapshot = ConfigSnapshot::parse("settings.toml".as_ref(), text.as_bytes());
        let snapshot = snapshot.unwrap_or_else(|error| panic!("{label}: {error}\n{text}"));
        let judge = Self { doc, label: label.to_owned(), snapshot, servers, rest };
        let drafts: Vec<_> =
            judge.snapshot.valid().map(|server| oracle::wanted(&server.to_draft())).collect();
        let effects: Vec<_> = judge.servers.iter().map(|server| oracle::effect(server).0).collect();
        judge.same("what is read", text, &drafts, &effects);
        judge
    }

    fn same<T: PartialEq + std::fmt::Debug>(&self, what: &str, after: &str, left: &T, right: &T) {
        assert!(
            left == right,
            "{}: {what}\n{left:#?}\n{right:#?}\n-- before\n{}\n-- after\n{after}",
            self.label,
            self.doc.text
        );
    }

    fn check(&self, what: &str, after: &str, holds: bool) {
        assert!(holds, "{}: {what}\n-- before\n{}\n-- after\n{after}", self.label, self.doc.text);
    }

    fn edit(&self, text: &str, edit: &Edit) -> String {
        match edit_bytes("settings.toml".as_ref(), text.as_bytes(), edit) {
            Ok((text, _)) => text,
            Err(error) => panic!("{}: {error}\n{edit:?}\n{text}", self.label),
        }
    }

    fn random_edit(&self, dice: &mut Dice) -> &'static str {
        let count = self.doc.names.len();
        if count == 0 {
            return self.add(dice);
        }
        let index = dice.below(count);
        match dice.below(8) {
            0 => self.add(dice),
            1 | 2 => self.remove(index),
            3 => self.switch(index),
            4 => self.save_unchanged(index),
            5 => self.replace_one(dice, index),
            _ => self.replace_several(dice, index),
        }
    }

    /// The text that another parser reads, compared with the servers as they were, but for one.
    fn others_kept(&self, after: &str, skip: Option<usize>) -> Vec<oracle::Table> {
        let parsed = oracle::parse(after).unwrap_or_else(|error| panic!("{}: {error}\n{after}", self.label));
        let (servers, rest) = oracle::split(parsed);
        self.same("the rest of the file", after, &rest, &self.rest);
        for (index, server) in self.servers.iter().enumerate() {
            if Some(index) != skip {
                self.same("another server", after, &servers.get(index), &Some(server));
            }
        }
        servers
    }

    fn add(&self, dice: &mut Dice) -> &'static str {
        let draft = new_server(dice);
        let after = self.edit(&self.doc.text, &Edit::Add(draft.clone()));
        let servers = self.others_kept(&after, None);
        self.same("number of servers", &after, &servers.len(), &(self.servers.len() + 1));
        self.same(
            "the new one",
            &after,
            &oracle::effect(&servers[self.servers.len()]).0,
            &oracle::wanted(&draft),
        );
        self.check(
            "more than lines and a comma were put in",
            &after,
            put_in(&self.doc.text, &after).is_some(),
        );
        let back = self.edit(&after, &Edit::Remove { name: draft.name });
        self.check("removing what was added gives other bytes", &back, back == self.doc.text);
        "edit: add"
    }

    fn remove(&self, index: usize) -> &'static str {
        let after = self.edit(&self.doc.text, &Edit::Remove { name: self.doc.names[index].clone() });
        let (servers, rest) =
            oracle::split(oracle::parse(&after).unwrap_or_else(|e| panic!("{}: {e}\n{after}", self.label)));
        self.same("the rest of the file", &after, &rest, &self.rest);
        let left: Vec<_> =
            (0..self.servers.len()).filter(|i| *i != index).map(|i| &self.servers[i]).collect();
        self.same("the other servers", &after, &servers.iter().collect::<Vec<_>>(), &left);
        let owned: Vec<_> = self
            .doc
            .owned
            .iter()
            .filter(|(owner, _)| *owner == index)
            .map(|(_, span)| span.clone())
            .collect();
        self.check("other bytes changed", &after, only_lost(&self.doc.text, &owned, &after));
        match (index, self.servers.len() - index) {
            (0, _) => "edit: remove the first",
            (_, 1) => "edit: remove the last",
            _ => "edit: remove a middle one",
        }
    }

    fn switch(&self, index: usize) -> &'static str {
        let name = &self.doc.names[index];
        let off = self.servers[index].get("disabled").and_then(toml_oracle::Value::as_bool);
        let enabled = off == Some(true);
        let after = self.edit(&self.doc.text, &Edit::Enable { name: name.clone(), enabled });
        let servers = self.others_kept(&after, Some(index));
        let mut wanted = self.servers[index].clone();
        let mut got = servers[index].clone();
        self.same(
            "the switch",
            &after,
            &got.remove("disabled").and_then(|v| v.as_bool()).unwrap_or(false),
            &!enabled,
        );
        wanted.remove("disabled");
        self.same("the server's other keys", &after, &got, &wanted);
        if off.is_none() {
            let new = put_in(&self.doc.text, &after);
            let new = new.map(|text| text.replace([',', ' ', '\t', '\r', '\n'], ""));
            self.same("what was put in", &after, &new.as_deref(), &Some("disabled=true"));
            let back = self.edit(&after, &Edit::Enable { name: name.clone(), enabled: true });
            self.check("switching off and on gives other bytes", &back, back == self.doc.text);
        } else if !enabled {
            self.check("more than the value changed", &after, self.only_value(index, "disabled", &after));
        }
        if enabled { "edit: switch on" } else { "edit: switch off" }
    }

    fn draft(&self, index: usize) -> McpServerConfig {
        self.snapshot.server(&self.doc.names[index]).unwrap().to_draft()
    }

    fn replace(&self, index: usize, draft: McpServerConfig) -> String {
        let after = self.edit(
            &self.doc.text,
            &Edit::Replace { name: self.doc.names[index].clone(), draft: draft.clone() },
        );
        let servers = self.others_kept(&after, Some(index));
        let (effect, rest) = oracle::effect(&servers[index]);
        self.same("what was wanted", &after, &effect, &oracle::wanted(&draft));
        self.same("unknown keys", &after, &rest, &oracle::effect(&self.servers[index]).1);
        after
    }

    fn save_unchanged(&self, index: usize) -> &'static str {
        let after = self.replace(index, self.draft(index));
        self.check("saving what is there gives other bytes", &after, after == self.doc.text);
        "edit: save unchanged"
    }

    /// Changes one value that is there, and looks at every byte.
    fn replace_one(&self, dice: &mut Dice, index: usize) -> &'static str {
        let mut draft = self.draft(index);
        let own =
            |(owner, path, _): &&(usize, String, Range<usize>)| *owner == index && !path.contains("odd");
        let values: Vec<_> = self.doc.values.iter().filter(own).collect();
        let (_, path, span) = values[dice.below(values.len())];
        let old = draft.clone();
        let text =
            dice.pick(&["changed", "with \"quotes\"", "C:\\new", "it's", "line\nbreak \u{1}"]).to_string();
        match path.as_str() {
            "command" => draft.command = Some(text),
            "url" => draft.url = Some("https://new/".into()),
            "cwd" => draft.cwd = Some(text),
            "prefix" => draft.prefix = Some(text),
            "timeout_seconds" => draft.timeout_seconds = Some(7),
            "max_seconds" => draft.max_seconds = Some(8),
            path if path.starts_with("env/") => drop(draft.env.insert(path[4..].into(), text)),
            path if path.starts_with("headers/") => {
                drop(draft.headers.insert(path[8..].into(), "new".into()))
            }
            _ => {
                draft.name = "renamed".into();
                let after = self.replace(index, draft);
                self.check("more than the name changed", &after, self.only_value(index, "name", &after));
                return "edit: rename";
            }
        }
        let after = self.replace(index, draft);
        self.check("more than the value changed", &after, only_between(&self.doc.text, span, &after));
        let back = edit_bytes(
            "f".as_ref(),
            after.as_bytes(),
            &Edit::Replace { name: self.doc.names[index].clone(), draft: old },
        );
        self.check("the way back fails", &after, back.is_ok());
        "edit: replace one value"
    }

    fn only_value(&self, index: usize, path: &str, after: &str) -> bool {
        let value = self.doc.values.iter().find(|(owner, p, _)| *owner == index && p == path);
        value.is_some_and(|(_, _, span)| only_between(&self.doc.text, span, after))
    }

    fn replace_several(&self, dice: &mut Dice, index: usize) -> &'static str {
        let mut draft = self.draft(index);
        let other = dice.once_in(4);
        if other {
            change_transport(dice, &mut draft);
        }
        let changes = dice.below(4) + usize::from(!other);
        for _ in 0..changes {
            change_something(dice, &mut draft);
        }
        let after = self.replace(index, draft);
        let owned: Vec<_> = self
            .doc
            .owned
            .iter()
            .filter(|(owner, _)| *owner == index)
            .map(|(_, span)| span.clone())
            .collect();
        self.check("bytes of others changed", &after, kept_around(&self.doc.text, &owned, &after));
        if other { "edit: other transport" } else { "edit: replace several" }
    }
}

fn new_server(dice: &mut Dice) -> McpServerConfig {
    let mut draft = McpServerConfig {
        name: dice.pick(&["new", "new one", "n.\"e\".w", "новый"]).to_string(),
        ..McpServerConfig::default()
    };
    if dice.once_in(3) {
        draft.url = Some("https://new/mcp".into());
    } else {
        draft.command = Some("new".into());
    }
    for _ in 0..dice.below(4) {
        change_something(dice, &mut draft);
    }
    draft
}

fn texts(dice: &mut Dice) -> Vec<String> {
    let all = ["", "a", "b c", "say \"x\"", "\\", "é", "two\nlines", "*"];
    (0..dice.below(4)).map(|_| dice.pick(&all).to_string()).collect()
}

fn change_something(dice: &mut Dice, draft: &mut McpServerConfig) {
    let web = draft.url.is_some();
    match dice.below(12) {
        0 => draft.auto_approve = !draft.auto_approve,
        1 => draft.disabled = !draft.disabled,
        2 => draft.timeout_seconds = *dice.pick(&[None, Some(300), Some(5)]),
        3 => draft.agents = texts(dice),
        4 => draft.always_allow = texts(dice),
        5 => draft.prefix = dice.pick(&[None, Some("p2")]).map(Into::into),
        6 => {
            draft.health_check = dice.once_in(2).then(|| HealthCheck {
                enabled: true,
                interval_ms: 9,
                ..HealthCheck::default()
            })
        }
        7 if !web => draft.sandbox = *dice.pick(&[None, Some(false), Some(true)]),
        8 if !web => change_list(dice, &mut draft.args),
        9 if !web => change_map(dice, &mut draft.env),
        10 if web => change_map(dice, &mut draft.headers),
        11 if web => {
            let mut oauth = draft.oauth.clone().unwrap_or_default();
            oauth.scopes = texts(dice);
            oauth.provider = Some("label".into());
            draft.oauth = dice.once_in(2).then_some(oauth);
        }
        _ => draft.max_seconds = *dice.pick(&[None, Some(77)]),
    }
}

fn change_list(dice: &mut Dice, list: &mut Vec<String>) {
    match dice.below(4) {
        0 => *list = texts(dice),
        1 => list.insert(dice.below(list.len() + 1), "in between".into()),
        2 if !list.is_empty() => drop(list.remove(dice.below(list.len()))),
        _ => list.push("at the end".into()),
    }
}

fn change_map(dice: &mut Dice, map: &mut BTreeMap<String, String>) {
    match dice.below(4) {
        0 => map.clear(),
        1 => drop(map.pop_first()),
        2 => drop(map.insert("NEW".into(), "v w".into())),
        _ => map.values_mut().for_each(|value| value.push('2')),
    }
}

fn change_transport(dice: &mut Dice, draft: &mut McpServerConfig) {
    let McpServerConfig { name, prefix, agents, timeout_seconds, .. } = draft.clone();
    let kept = McpServerConfig { name, prefix, agents, timeout_seconds, ..McpServerConfig::default() };
    *draft = match (&draft.command, draft.r#type) {
        (Some(_), _) => McpServerConfig {
            url: Some("https://other/".into()),
            headers: BTreeMap::from([("A".into(), "b".into())]),
            ..kept
        },
        (None, Some(TransportKind::Sse)) if dice.once_in(2) => {
            McpServerConfig { url: draft.url.clone(), ..kept }
        }
        (None, None) if dice.once_in(2) => {
            McpServerConfig { url: draft.url.clone(), r#type: Some(TransportKind::Sse), ..kept }
        }
        _ => McpServerConfig { command: Some("other".into()), args: vec!["1".into()], ..kept },
    };
}

fn common_start(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// The one text that makes `after` of `before` by being put in, beside a comma at another place.
fn put_in(before: &str, after: &str) -> Option<String> {
    let one = |after: &str| {
        let start = common_start(before, after);
        let extra = after.len().checked_sub(before.len())?;
        let (before, after) = (before.as_bytes(), after.as_bytes());
        let same = after[start + extra..] == before[start..];
        same.then(|| String::from_utf8_lossy(&after[start..start + extra]).into_owned())
    };
    one(after).or_else(|| {
        let start = common_start(before, after);
        (after.as_bytes().get(start) == Some(&b','))
            .then(|| one(&format!("{}{}", &after[..start], &after[start + 1..])))?
    })
}

/// Whether only the bytes of this span differ.
fn only_between(before: &str, span: &Range<usize>, after: &str) -> bool {
    after.len() >= before.len() - span.len()
        && after.starts_with(&before[..span.start])
        && after.ends_with(&before[span.end..])
}

const BLANK: [char; 5] = [' ', '\t', '\r', '\n', ','];

/// Whether `after` is `before` without these parts, but for blanks and one comma around each.
fn only_lost(before: &str, parts: &[Range<usize>], after: &str) -> bool {
    let mut kept = Vec::new();
    let mut from = 0;
    for part in parts {
        kept.push(&before[from..part.start]);
        from = part.end;
    }
    kept.push(&before[from..]);
    in_order(&kept, after)
        || without_list(&kept).is_some_and(|kept| in_order(&kept, after))
        || without_comma(&kept).is_some_and(|kept| in_order(&kept, after))
}

/// The comma that separated the last one from the one before, where a comment stands behind it.
fn without_comma<'t>(kept: &[&'t str]) -> Option<[&'t str; 3]> {
    let [before, after] = kept else { return None };
    let comments =
        |text: &str| text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#'));
    let comma = before.match_indices(',').map(|(at, _)| at).find(|at| comments(&before[at + 1..]))?;
    Some([&before[..comma], &before[comma + 1..], after])
}

/// The list in an inline table that goes with its only server.
fn without_list<'t>(kept: &[&'t str]) -> Option<[&'t str; 2]> {
    let [before, after] = kept else { return None };
    let before = before.trim_end_matches(BLANK).strip_suffix('[')?.trim_end().strip_suffix('=')?.trim_end();
    let before = before.strip_suffix("servers").or_else(|| before.strip_suffix("'servers'"))?;
    Some([before, after.trim_start_matches(BLANK).strip_prefix(']')?])
}

/// Whether these texts make up the other one, but for blanks and commas between them.
fn in_order(kept: &[&str], after: &str) -> bool {
    let last = kept.len() - 1;
    let mut rest = after;
    for (i, chunk) in kept.iter().enumerate() {
        let core = if i > 0 { chunk.trim_start_matches(BLANK) } else { chunk };
        let core = if i < last { core.trim_end_matches(BLANK) } else { core };
        let Some(tail) = rest.strip_prefix(core) else { return false };
        rest = if i < last { tail.trim_start_matches(BLANK) } else { tail };
    }
    rest.is_empty()
}

/// Whether everything outside these parts is in `after`, byte for byte and in order, from its start to its end.
fn kept_around(before: &str, parts: &[Range<usize>], after: &str) -> bool {
    let mut from = 0;
    let mut rest = after;
    for (i, part) in parts.iter().enumerate() {
        let chunk = before[from..part.start].trim_matches(BLANK);
        from = part.end;
        if i == 0 {
            let Some(tail) = rest.strip_prefix(&before[..part.start].trim_end_matches(BLANK)) else {
                return false;
            };
            rest = tail;
        } else {
            let Some(at) = rest.find(chunk) else { return false };
            rest = &rest[at + chunk.len()..];
        }
    }
    rest.ends_with(before[from..].trim_start_matches(BLANK))
}
