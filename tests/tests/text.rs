//! What the project's files keep to: their sizes, where unsafe code stands, and what no text of the project names.

use std::{fs, path::Path};

use crate::borders::root;

/// Folders that hold nothing written by us.
const NOT_OURS: [&str; 6] = [".git", "target", "node_modules", "dist", ".cache", "output"];

struct File {
    /// Path from the root, with `/`.
    path: String,
    text: String,
}

/// Every text file of the project, in the order of their paths.
fn files() -> Vec<File> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<File>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !NOT_OURS.contains(&name.as_str()) {
                walk(root, &entry.path(), found);
            } else if kind.is_file()
                && let Ok(text) = fs::read_to_string(entry.path())
            {
                let path = entry.path().strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
                found.push(File { path, text });
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), &root(), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 50, "the whole project is looked at");
    found
}

impl File {
    fn is(&self, extensions: &[&str]) -> bool {
        extensions.iter().any(|extension| self.path.ends_with(extension))
    }

    /// Whether it is only there for tests.
    fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.contains("/tests/") || self.path.contains(".test.")
    }

    /// Its lines without the tests at its end.
    fn lines(&self) -> usize {
        let tests = self.text.find("\n#[cfg(test)]\nmod tests {").unwrap_or(self.text.len());
        self.text[..tests].lines().count()
    }
}

/// The sizes of these files, smallest first.
fn sizes(of: impl Fn(&File) -> bool) -> Vec<(usize, String)> {
    let mut sizes: Vec<_> =
        files().into_iter().filter(|file| of(file)).map(|file| (file.lines(), file.path)).collect();
    sizes.sort();
    assert!(!sizes.is_empty());
    sizes
}

fn none(what: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{what}:\n  {}", broken.join("\n  "));
}

#[test]
fn rust_files_are_short() {
    let sizes = sizes(|file| file.is(&[".rs"]) && !file.is_test());
    let (median, ninth) = (&sizes[sizes.len() / 2], &sizes[sizes.len() * 9 / 10]);
    assert!(median.0 <= 150, "the file in the middle has more than 150 lines: {median:?}");
    assert!(ninth.0 <= 400, "less than nine files in ten have at most 400 lines: {ninth:?}");
    let long: Vec<_> =
        sizes.iter().filter(|(lines, _)| *lines > 500).map(|size| format!("{size:?}")).collect();
    none("files of more than 500 lines", &long);
}

#[test]
fn ui_files_are_short() {
    let written = |file: &File| {
        file.path.starts_with("ui/src/")
            && file.is(&[".ts", ".tsx", ".css"])
            && !file.path.ends_with("/bindings.ts")
    };
    let sizes = sizes(written);
    let ninth = &sizes[sizes.len() * 9 / 10];
    assert!(ninth.0 <= 250, "less than nine files in ten have at most 250 lines: {ninth:?}");
}

#[test]
fn a_rust_file_begins_by_saying_what_it_owns() {
    let silent: Vec<_> = files()
        .into_iter()
        .filter(|file| file.is(&[".rs"]))
        .filter(|file| !file.text.starts_with("//! ") || file.text.starts_with("//! ("))
        .map(|file| file.path)
        .collect();
    none("files without a header", &silent);
}

#[test]
fn unsafe_code_stands_where_it_was_expected_with_a_reason() {
    let word = concat!("un", "safe");
    let uses = |text: &str| {
        ["{", "fn ", "impl ", "extern "].iter().any(|then| text.contains(&format!("{word} {then}")))
    };
    let broken: Vec<_> = files()
        .into_iter()
        .filter(|file| file.is(&[".rs"]))
        .filter(|file| {
            let expected = file.text.contains(&format!("#[expect({word}_code, reason = \""));
            let at_home = file.path.starts_with("crates/exec/") || file.path.starts_with("crates/control/");
            (uses(&file.text) && !expected && !at_home) || file.text.contains(&format!("allow({word}_code"))
        })
        .map(|file| file.path)
        .collect();
    none("files with unexpected unsafe code", &broken);
}

#[test]
fn no_text_of_the_project_names_a_registry_host_or_a_machine_of_ours() {
    let hosts =
        [["crates", ".io"], ["npm", "js."], ["py", "pi.org"], ["python", "hosted"], ["deb.", "debian.org"]]
            .map(|parts| parts.concat());
    let folders = ["root", "work"].map(|folder| format!("/{folder}/"));
    let found: Vec<_> = files()
        .into_iter()
        .filter(|file| !file.path.ends_with("Cargo.lock") && !file.path.ends_with("package-lock.json"))
        .flat_map(|file| {
            let hits = hosts.iter().chain(&folders).filter(|word| names(&file.text, word));
            hits.map(|word| format!("{}: {word}", file.path)).collect::<Vec<_>>()
        })
        .collect();
    none("files that name one", &found);
}

/// Whether the text has the word at the start of a path or host, not in the middle of a longer one.
fn names(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let inside = word.starts_with('/')
            && before.is_some_and(|before| before.is_alphanumeric() || "}).*_-".contains(before));
        let ends = word.starts_with('/') && !after.is_some_and(char::is_alphanumeric);
        !inside && !ends
    })
}

#[test]
fn a_machine_path_is_found_and_a_path_that_only_ends_like_one_is_not() {
    let work = ["/wo", "rk/"].concat();
    assert!(names(&format!("see {work}main"), &work) && names(&format!("\"{work}x"), &work));
    assert!(
        !names(&format!("{{dir}}{work}x"), &work)
            && !names(&format!("a{work}x"), &work)
            && !names(&work, &work)
    );
}
