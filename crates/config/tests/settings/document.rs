//! Random settings files in every spelling that TOML has, with what each part of the text belongs to.

use std::{collections::BTreeSet, ops::Range};

/// A source of choices that can be repeated.
pub struct Dice {
    state: u64,
    bytes: Vec<u8>,
}

impl Dice {
    /// Choices from a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed, bytes: Vec::new() }
    }

    /// Choices from these bytes, and then from a seed that they make.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let state =
            bytes.iter().fold(1469, |hash: u64, byte| hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(*byte));
        Self { state, bytes: bytes.iter().rev().copied().collect() }
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        if let Some(byte) = self.bytes.pop() {
            return u64::from(byte);
        }
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A settings file and what is in it.
pub struct Document {
    pub text: String,
    /// Parts that go with a server, by its place in the list.
    pub owned: Vec<(usize, Range<usize>)>,
    /// Values of a server's own keys and of its tables' members, by its place and the path.
    pub values: Vec<(usize, String, Range<usize>)>,
    /// The names of the servers.
    pub names: Vec<String>,
    /// The spellings that came up.
    pub forms: BTreeSet<&'static str>,
}

/// How the servers are spelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Headers,
    ListInTable,
    DottedList,
    InlineMcp,
    Absent,
}

struct Writer<'d> {
    dice: &'d mut Dice,
    doc: Document,
    newline: &'static str,
    /// The server that what is written belongs to.
    owner: Option<usize>,
    tables: usize,
}

const NAMES: &[&str] =
    &["files", "git.hub", "мой сервер", "we\"ird", "it's", "a", "true", "我的", "my server", "e\u{301}"];
const TEXTS: &[&str] = &[
    "",
    "x",
    "a b",
    "/usr/bin/npx",
    "--flag=1",
    "C:\\dir\\",
    "say \"hi\"",
    "it's",
    "tab\there",
    "é🙂",
    "#no",
    "a=b",
    "[x]",
    "${HOME}/x",
];
const COMMENTS: &[&str] = &["# note", "#", "#[[mcp.servers]]", "# name = \"x\"", "#\té", "# a, b ] }"];

/// A random settings file that is valid TOML with valid settings.
pub fn document(dice: &mut Dice) -> Document {
    let newline = if dice.once_in(4) { "\r\n" } else { "\n" };
    let doc = Document {
        text: String::new(),
        owned: Vec::new(),
        values: Vec::new(),
        names: Vec::new(),
        forms: BTreeSet::new(),
    };
    let mut writer = Writer { dice, doc, newline, owner: None, tables: 0 };
    writer.file();
    writer.doc
}

impl Writer<'_> {
    fn form(&mut self, name: &'static str) {
        self.doc.forms.insert(name);
    }

    fn put(&mut self, text: &str) {
        let start = self.doc.text.len();
        self.doc.text.push_str(text);
        let end = self.doc.text.len();
        if let (Some(owner), true) = (self.owner, end > start) {
            match self.doc.owned.last_mut() {
                Some((last, span)) if *last == owner && span.end == start => span.end = end,
                _ => self.doc.owned.push((owner, start..end)),
            }
        }
    }

    fn end_line(&mut self) {
        if self.dice.once_in(6) {
            self.form("comment at the end of a line");
            let comment = *self.dice.pick(COMMENTS);
            let space = *self.dice.pick(&["", " ", "\t"]);
            self.put(&format!("{space}{comment}"));
        } else if self.dice.once_in(12) {
            self.put(" ");
        }
        self.put(self.newline);
    }

    fn comment_line(&mut self) {
        let comment = *self.dice.pick(COMMENTS);
        let indent = *self.dice.pick(&["", "", "  "]);
        self.put(&format!("{indent}{comment}{}", self.newline));
    }

    /// Blank lines, and perhaps comments that belong to nobody.
    fn gap(&mut self) {
        let owner = self.owner.take();
        for _ in 0..self.dice.below(3) {
            let blank = *self.dice.pick(&["", "", "", "  "]);
            self.put(&format!("{blank}{}", self.newline));
        }
        if self.dice.once_in(6) {
            self.form("comment of its own");
            self.put(self.newline);
            self.comment_line();
            self.put(self.newline);
        }
        self.owner = owner;
    }

    fn file(&mut self) {
        if self.newline == "\r\n" {
            self.form("CRLF");
        }
        if self.dice.once_in(5) {
            self.form("BOM");
            self.doc.text.push('\u{feff}');
        }
        if self.dice.once_in(4) {
            self.comment_line();
            self.put(self.newline);
        }
        self.gap();
        let style = *self.dice.pick(&[
            Style::Headers,
            Style::Headers,
            Style::Headers,
            Style::ListInTable,
            Style::ListInTable,
            Style::DottedList,
            Style::InlineMcp,
            Style::Absent,
        ]);
        let count = if style == Style::Absent { 0 } else { *self.dice.pick(&[0, 1, 1, 2, 3, 3, 4]) };
        self.choose_names(count);
        self.root_pairs(style);
        for _ in 0..self.dice.below(3) {
            self.other_table();
        }
        match style {
            Style::Headers => self.headers(),
            Style::ListInTable => self.list_in_table(),
            Style::Absent if self.dice.once_in(2) && !self.doc.text.contains("mcp = {") => {
                self.put(&format!("[mcp]{}tool_names = 'plain'{}", self.newline, self.newline));
            }
            _ => {}
        }
        self.gap();
        for _ in 0..self.dice.below(3) {
            self.other_table();
        }
        if self.dice.once_in(5) && self.doc.text.ends_with('\n') && self.doc.text.len() > 3 {
            self.form("no line break at the end");
            self.cut_last_newline();
        }
    }

    fn cut_last_newline(&mut self) {
        let length = self.doc.text.trim_end_matches(['\n', '\r']).len();
        self.doc.text.truncate(length);
        for (_, span) in &mut self.doc.owned {
            span.start = span.start.min(length);
            span.end = span.end.min(length);
        }
    }

    fn choose_names(&mut self, count: usize) {
        let first = self.dice.below(NAMES.len());
        self.doc.names = (0..count).map(|i| NAMES[(first + i) % NAMES.len()].to_owned()).collect();
    }

    /// Keys before any header.
    fn root_pairs(&mut self, style: Style) {
        for _ in 0..self.dice.below(3) {
            self.tables += 1;
            let key = format!("u{}", self.tables);
            self.unknown_pair(&key);
        }
        match style {
            Style::DottedList => {
                self.form("dotted mcp.servers");
                let key = *self.dice.pick(&["mcp.servers", "mcp . servers", "\"mcp\".'servers'"]);
                self.put(&format!("{key} = "));
                self.list();
                self.end_line();
                if self.dice.once_in(2) {
                    self.put("mcp.tool_names = \"plain\"");
                    self.end_line();
                }
            }
            Style::InlineMcp => {
                self.form("servers in an inline mcp");
                let lead =
                    *self.dice.pick(&["{ tool_names = 'plain', servers = ", "{servers=", "{ 'servers' = "]);
                self.put(&format!("mcp = {lead}"));
                self.list();
                let tail = *self.dice.pick(&[" }", "}", ", legacy_sse = false }"]);
                self.put(tail);
                self.end_line();
            }
            Style::Absent if self.dice.once_in(4) => {
                self.form("no servers in an inline mcp");
                let value = *self.dice.pick(&["{}", "{ }", "{ tool_names = 'plain' }", "{legacy_sse=false}"]);
                self.put(&format!("mcp = {value}"));
                self.end_line();
                self.tables += 1;
                let table = format!("[z{}]", self.tables);
                self.put(&table);
                self.end_line();
            }
            _ => {}
        }
    }

    /// A table that is none of the servers'.
    fn other_table(&mut self) {
        let owner = self.owner.take();
        self.gap();
        self.tables += 1;
        let n = self.tables;
        match self.dice.below(4) {
            0 => self.put(&format!("[x{n}]")),
            1 => self.put(&format!("[ x{n} . \"q.{n}\" ]")),
            2 => self.put(&format!("[[x{n}]]")),
            _ => self.put(&format!("[x{n}.y.z]")),
        }
        self.end_line();
        for i in 0..self.dice.below(3) {
            self.unknown_pair(&format!("k{i}"));
        }
        self.owner = owner;
    }

    /// A key that means nothing, with a value of any kind.
    fn unknown_pair(&mut self, key: &str) {
        let key = match self.dice.below(4) {
            0 => format!("\"{key}\""),
            1 => format!("'{key}'"),
            2 => format!("{key}.sub"),
            _ => key.to_owned(),
        };
        let equals = *self.dice.pick(&[" = ", "=", "  =\t"]);
        let value = self.any_value(0);
        self.put(&format!("{key}{equals}{value}"));
        self.end_line();
    }

    fn any_value(&mut self, depth: usize) -> String {
        let scalars: &[(&'static str, &[&str])] = &[
            ("numbers", &["0", "+7", "-1_000", "0xDEAD_beef", "0o7_55", "0b1010", "9223372036854775807"]),
            ("floats", &["1.5", "-0.0", "6.02_2e+2_3", "1e3", "inf", "-inf", "nan", "3.0E-2"]),
            (
                "dates",
                &[
                    "1979-05-27T07:32:00Z",
                    "1979-05-27 00:32:00.5-07:00",
                    "1979-05-27T07:32:00",
                    "1979-05-27",
                    "07:32:00.25",
                ],
            ),
            ("literal texts", &["'C:\\x'", "''", "'a # b'"]),
            ("texts with escapes", &["\"\\u00e9\\n\\\"\"", "\"\\\\\"", "\"\\U0001F642\""]),
            (
                "texts on many lines",
                &[
                    "\"\"\"a \"quoted\" b\"\"\"",
                    "'''it's'''",
                    "\"\"\"x\\\n   y\"\"\"",
                    "'''\nx = [1]\n# no\n[[mcp.servers]]\n'''",
                ],
            ),
            ("switches", &["true", "false"]),
        ];
        if depth < 2 && self.dice.once_in(3) {
            return self.nested_value(depth);
        }
        let (form, all) = *self.dice.pick(scalars);
        self.form(form);
        let value = *self.dice.pick(all);
        if self.newline == "\r\n" { value.replace('\n', "\r\n") } else { value.to_owned() }
    }

    fn nested_value(&mut self, depth: usize) -> String {
        if self.dice.once_in(2) {
            let (a, b) = (self.any_value(depth + 1), self.any_value(depth + 1));
            return format!("{{ a = {a}, b.c = {b} }}");
        }
        self.form("nested lists");
        let items: Vec<_> =
            (0..self.dice.below(3)).map(|_| format!("[{}]", self.any_value(depth + 1))).collect();
        if self.dice.once_in(2) {
            let newline = self.newline;
            return format!(
                "[ # c ]{newline}{}{newline}]",
                items.iter().map(|item| format!("  {item},{newline}")).collect::<String>()
            );
        }
        format!("[{}]", items.join(" , "))
    }

    fn string(&mut self, text: &str) -> String {
        let plain = !text.contains(['\'', '\t']);
        match self.dice.below(4) {
            0 if plain => format!("'{text}'"),
            1 if plain => format!("'''{text}'''"),
            2 => format!("\"\"\"{}\"\"\"", escaped(text)),
            _ => format!("\"{}\"", escaped(text)),
        }
    }

    fn text_value(&mut self) -> String {
        let text = *self.dice.pick(TEXTS);
        self.string(text)
    }

    fn some_text_value(&mut self) -> String {
        let text = TEXTS[1 + self.dice.below(TEXTS.len() - 1)];
        self.string(text)
    }

    fn text_list(&mut self, lines: bool) -> String {
        let count = self.dice.below(4);
        let items: Vec<_> = (0..count).map(|_| self.text_value()).collect();
        if lines && self.dice.once_in(3) {
            self.form("lists on many lines");
            let newline = self.newline;
            let comma = if self.dice.once_in(2) { "," } else { "" };
            let body: Vec<_> = items.iter().map(|item| format!("  {item}")).collect();
            let body = body.join(&format!(",{}{newline}", if self.dice.once_in(2) { " # c" } else { "" }));
            let comma = if items.is_empty() { "" } else { comma };
            return format!("[{newline}{body}{comma}{newline}]");
        }
        let (open, close) = *self.dice.pick(&[("[", "]"), ("[ ", " ]")]);
        format!("{open}{}{close}", items.join(", "))
    }

    /// Keys and values of a server; members of its tables apart.
    fn server_keys(
        &mut self,
        index: usize,
        lines: bool,
    ) -> (Vec<(String, String)>, Vec<(&'static str, Vec<(String, String)>)>) {
        let name = self.doc.names[index].clone();
        let name = self.string(&name);
        let web = self.dice.once_in(3);
        let mut pairs = vec![("name".to_owned(), name)];
        let mut tables = Vec::new();
        if web {
            pairs.push((
                "url".into(),
                self.dice.pick(&["\"https://h/mcp\"", "'http://[::1]:80/'", "\"${BASE}/mcp\""]).to_string(),
            ));
            if self.dice.once_in(4) {
                pairs.push(("type".into(), self.dice.pick(&["'http'", "\"sse\""]).to_string()));
            }
            tables.push(("headers", self.members(&["X-Key", "Authorization", "\"Accept\""])));
            tables.push(("oauth", self.oauth_members()));
        } else {
            let command = self.some_text_value();
            pairs.push(("command".into(), command));
            if self.dice.once_in(2) {
                pairs.push(("args".into(), self.text_list(lines)));
            }
            if self.dice.once_in(5) {
                pairs.push(("sandbox".into(), self.dice.pick(&["true", "false"]).to_string()));
            }
            if self.dice.once_in(6) {
                pairs.push(("cwd".into(), self.some_text_value()));
            }
            tables.push(("env", self.members(&["KEY", "\"a b\"", "'x.y'", "lower_1"])));
        }
        self.common_keys(&mut pairs, lines);
        tables.push(("health_check", self.health_members()));
        tables.retain(|(_, members)| !members.is_empty());
        if self.dice.once_in(3) {
            let rest = pairs.split_off(1);
            pairs.splice(0..0, rest);
        }
        (pairs, tables)
    }

    fn common_keys(&mut self, pairs: &mut Vec<(String, String)>, lines: bool) {
        let choices: &[(&str, &[&str])] = &[
            ("disabled", &["true", "false"]),
            ("auto_approve", &["true", "false"]),
            ("timeout_seconds", &["300", "3_00", "0x3C", "+60"]),
            ("max_seconds", &["900", "0b11"]),
            ("prefix", &["\"p\"", "'q'"]),
        ];
        for (key, values) in choices {
            if self.dice.once_in(5) {
                let key = if self.dice.once_in(8) { format!("\"{key}\"") } else { (*key).to_owned() };
                pairs.push((key, self.dice.pick(values).to_string()));
            }
        }
        for key in ["agents", "always_allow"] {
            if self.dice.once_in(6) {
                pairs.push((key.into(), self.text_list(lines)));
            }
        }
        if self.dice.once_in(8) {
            pairs.push(("tools".into(), "[\"read_*\", 'x']".into()));
        }
        if self.dice.once_in(4) {
            self.form("unknown keys of a server");
            let value = if lines { self.any_value(0) } else { "{ a.b = 0x1 }".to_owned() };
            pairs.push(("notes".into(), value));
        }
    }

    fn members(&mut self, keys: &[&str]) -> Vec<(String, String)> {
        let mut members = Vec::new();
        for key in keys {
            if self.dice.once_in(3) {
                members.push(((*key).to_owned(), self.member_text()));
            }
        }
        members
    }

    /// Text that an environment and a header can hold.
    fn member_text(&mut self) -> String {
        let text = *self.dice.pick(&["", "x", "a b", "say \"hi\"", "${secret:K}", "C:\\x", "é"]);
        self.string(text)
    }

    fn oauth_members(&mut self) -> Vec<(String, String)> {
        let mut members = Vec::new();
        if self.dice.once_in(6) {
            members.push(("client_id".into(), "'id'".into()));
            members.push(("scopes".into(), "[ 'a' ,'b']".into()));
        }
        if self.dice.once_in(12) {
            members.push(("odd".into(), "1.50".into()));
        }
        members
    }

    fn health_members(&mut self) -> Vec<(String, String)> {
        let choices: &[(&str, &[&str])] = &[
            ("enabled", &["true", "false"]),
            ("interval_ms", &["30_000", "5"]),
            ("failures", &["3", "0x4"]),
            ("odd", &["1e1"]),
        ];
        let mut members = Vec::new();
        if self.dice.once_in(5) {
            for (key, values) in choices {
                if self.dice.once_in(2) {
                    members.push(((*key).to_owned(), self.dice.pick(values).to_string()));
                }
            }
        }
        members
    }

    fn value(&mut self, index: usize, path: &str, value: &str) {
        let start = self.doc.text.len();
        self.put(value);
        let path: String = path.replace(['"', '\''], "");
        self.doc.values.push((index, path, start..self.doc.text.len()));
    }

    fn pair_line(&mut self, indent: &str, index: usize, table: &str, key: &str, value: &str) {
        let equals = *self.dice.pick(&[" = ", " = ", "=", " =  "]);
        self.put(&format!("{indent}{key}{equals}"));
        let path = if table.is_empty() { key.to_owned() } else { format!("{table}/{key}") };
        self.value(index, &path, value);
        self.end_line();
    }

    /// `[[mcp.servers]]`
    fn headers(&mut self) {
        let late = self.dice.once_in(4);
        if !late && self.dice.once_in(3) {
            self.put(&format!("[mcp]{}legacy_sse = false", self.newline));
            self.end_line();
        }
        for index in 0..self.doc.names.len() {
            self.header_server(index);
        }
        if !self.doc.names.is_empty() {
            self.form("[[mcp.servers]]");
            if late {
                self.form("[mcp] behind its servers");
                self.gap();
                self.put(&format!("[mcp]{}legacy_sse = false", self.newline));
                self.end_line();
            }
        }
    }

    fn header_server(&mut self, index: usize) {
        self.gap();
        self.owner = Some(index);
        if self.dice.once_in(3) {
            self.form("comment above a server");
            for _ in 0..=self.dice.below(2) {
                self.comment_line();
            }
        }
        let indent = *self.dice.pick(&["", "", "", "  ", "\t"]);
        let quoted = self.dice.once_in(4);
        if quoted {
            self.form("quoted headers");
        }
        let header = if quoted {
            *self.dice.pick(&["[[ \"mcp\" . 'servers' ]]", "[['mcp'.servers]]"])
        } else {
            "[[mcp.servers]]"
        };
        self.put(&format!("{indent}{header}"));
        self.end_line();
        let (pairs, tables) = self.server_keys(index, true);
        for (key, value) in &pairs {
            if self.dice.once_in(10) {
                self.comment_line();
            }
            self.pair_line(indent, index, "", key, value);
        }
        let mut apart = Vec::new();
        for (table, members) in tables {
            match self.dice.below(4) {
                0 => self.inline_table(indent, index, table, &members),
                1 => self.dotted_members(indent, index, table, &members),
                2 => apart.push((table, members, false)),
                _ => apart.push((table, members, true)),
            }
        }
        if self.dice.once_in(6) {
            apart.push(("mine.deep", vec![("k".into(), "0o17".into())], self.dice.once_in(2)));
        }
        apart.sort_by_key(|(_, _, far)| *far);
        for (table, members, far) in apart {
            self.sub_table(index, table, &members, far);
        }
        if self.dice.once_in(6) {
            self.form("comment below a server");
            self.comment_line();
            self.owner = None;
            self.put(self.newline);
        }
        self.owner = None;
    }

    fn inline_table(&mut self, indent: &str, index: usize, table: &str, members: &[(String, String)]) {
        self.form("inline tables");
        self.put(&format!("{indent}{table} = {{ "));
        for (i, (key, value)) in members.iter().enumerate() {
            self.put(&format!("{}{key} = ", if i > 0 { ", " } else { "" }));
            self.value(index, &format!("{table}/{key}"), value);
        }
        self.put(" }");
        self.end_line();
    }

    fn dotted_members(&mut self, indent: &str, index: usize, table: &str, members: &[(String, String)]) {
        self.form("dotted keys");
        for (key, value) in members {
            let dot = *self.dice.pick(&[".", " . "]);
            self.put(&format!("{indent}{table}{dot}{key} = "));
            self.value(index, &format!("{table}/{key}"), value);
            self.end_line();
        }
    }

    fn sub_table(&mut self, index: usize, table: &str, members: &[(String, String)], far: bool) {
        if far {
            self.form("sub-tables far from their server");
            self.other_table();
            self.gap();
        } else {
            self.form("sub-tables");
        }
        if self.dice.once_in(4) {
            self.comment_line();
        }
        let header = *self.dice.pick(&["[mcp.servers.", "[ mcp . servers . ", "['mcp'.\"servers\"."]);
        self.put(&format!("{header}{table}]"));
        self.end_line();
        for (key, value) in members {
            let indent = *self.dice.pick(&["", "  "]);
            self.pair_line(indent, index, table, key, value);
        }
    }

    fn list_in_table(&mut self) {
        self.gap();
        self.form("servers = [ ] under [mcp]");
        let header = *self.dice.pick(&["[mcp]", "[ 'mcp' ]"]);
        self.put(header);
        self.end_line();
        let before = self.dice.once_in(2);
        if before {
            self.put("tool_names = \"plain\"");
            self.end_line();
        }
        let key = *self.dice.pick(&["servers", "'servers'"]);
        self.put(&format!("{key} = "));
        self.list();
        self.end_line();
        if !before && self.dice.once_in(2) {
            self.put("legacy_sse = false");
            self.end_line();
        }
    }

    /// `[{…}, …]`
    fn list(&mut self) {
        let count = self.doc.names.len();
        if count == 0 {
            self.form("an empty list");
            let empty = *self.dice.pick(&["[]", "[ ]", "[\n]", "[ # none\n]", "[\n  # none yet\n  ]"]);
            let empty = empty.replace('\n', self.newline);
            return self.put(&empty);
        }
        let lines = self.dice.once_in(2);
        if lines {
            self.form("a list on many lines");
            self.put(&format!("[{}", self.newline));
        } else {
            self.form("a list on one line");
            let open = *self.dice.pick(&["[", "[ "]);
            self.put(open);
        }
        let comma_at_end = self.dice.once_in(2);
        for index in 0..count {
            self.list_server(index, lines, index + 1 < count || comma_at_end);
        }
        let close = *self.dice.pick(&["]", " ]"]);
        self.put(if lines { "]" } else { close });
    }

    fn list_server(&mut self, index: usize, lines: bool, comma: bool) {
        if lines {
            self.owner = Some(index);
            if self.dice.once_in(3) {
                self.put(&format!("  # about {index}{}", self.newline));
            }
            self.put("  ");
        }
        self.owner = Some(index);
        self.inline_server(index);
        let comma = if comma { "," } else { "" };
        if lines {
            self.put(comma);
            self.end_line();
            self.owner = None;
            if self.dice.once_in(5) {
                self.put(&format!("  # of its own{}{}", self.newline, self.newline));
            }
        } else {
            self.owner = None;
            self.put(comma);
            if !comma.is_empty() {
                self.put(" ");
            }
        }
    }

    fn inline_server(&mut self, index: usize) {
        let (pairs, tables) = self.server_keys(index, false);
        let (open, close) = *self.dice.pick(&[("{ ", " }"), ("{", "}")]);
        self.put(open);
        for (i, (key, value)) in pairs.iter().enumerate() {
            self.put(&format!("{}{key} = ", if i > 0 { ", " } else { "" }));
            self.value(index, key, value);
        }
        for (table, members) in tables {
            let dotted = self.dice.once_in(2);
            if !dotted {
                self.put(&format!(", {table} = {{ "));
            }
            for (i, (key, value)) in members.iter().enumerate() {
                let lead = match (dotted, i) {
                    (true, _) => format!(", {table}."),
                    (false, 0) => String::new(),
                    (false, _) => ", ".into(),
                };
                self.put(&format!("{lead}{key} = "));
                self.value(index, &format!("{table}/{key}"), value);
            }
            if !dotted {
                self.put(" }");
            }
        }
        self.put(close);
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t")
}
