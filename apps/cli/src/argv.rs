//! The free order of `mcp add`: brings its options to the front before clap reads them, so that help and errors stay
//! clap's own.
//!
//! Before the command, what begins with `-` is an option. After it, only the options of `mcp add` itself are; all
//! else belongs to the server. After `--`, everything does.

use std::ffi::{OsStr, OsString};

use clap::CommandFactory as _;

use crate::args::Cli;

/// The arguments in an order that clap understands. Those of other commands stay as they are.
pub fn arrange(argv: Vec<OsString>) -> Vec<OsString> {
    if !argv.iter().any(|token| token == "add") {
        return argv;
    }
    let root = Cli::command();
    let global = Options::of(&root);
    let Some(start) = after_mcp_add(&argv, &global) else { return argv };
    let add = root.find_subcommand("mcp").and_then(|mcp| mcp.find_subcommand("add"));
    let own = add.map(Options::of).unwrap_or_default();
    let mut tokens = argv.into_iter();
    let mut arranged: Vec<OsString> = tokens.by_ref().take(start).collect();
    let mut words = Vec::new();
    let mut rest = tokens.peekable();
    while let Some(token) = rest.next() {
        if token == "--" {
            words.extend(rest);
            break;
        }
        let before_command = words.len() < 2;
        let takes =
            own.takes_value(&token).or_else(|| before_command.then(|| global.takes_value(&token)).flatten());
        match takes {
            // Joined, so that a value may begin with a dash.
            Some(true) if rest.peek().is_some_and(|next| next != "--") => {
                let mut joined = token;
                joined.push("=");
                joined.push(rest.next().unwrap_or_default());
                arranged.push(joined);
            }
            Some(_) => arranged.push(token),
            None if before_command && is_option(&token) => arranged.push(token),
            None => words.push(token),
        }
    }
    if !words.is_empty() {
        arranged.push("--".into());
        arranged.extend(words);
    }
    arranged
}

/// The index after `mcp add`, where that is the command.
fn after_mcp_add(argv: &[OsString], global: &Options) -> Option<usize> {
    let mut wanted = ["mcp", "add"].into_iter();
    let mut at = 1;
    let mut next = wanted.next();
    while let Some(word) = next {
        let token = argv.get(at)?;
        at += 1;
        if global.takes_value(token) == Some(true) {
            at += 1;
        } else if is_option(token) {
            global.takes_value(token)?;
        } else if token == word {
            next = wanted.next();
        } else {
            return None;
        }
    }
    Some(at)
}

fn is_option(token: &OsStr) -> bool {
    token.as_encoded_bytes().starts_with(b"-") && token != "-"
}

/// The long options of a command, each with whether it takes a value.
#[derive(Default)]
struct Options(Vec<(String, bool)>);

impl Options {
    fn of(command: &clap::Command) -> Self {
        let long = |argument: &clap::Arg| {
            let takes = argument.get_action().takes_values();
            argument.get_long().map(|name| (name.to_owned(), takes))
        };
        Self(command.get_arguments().filter_map(long).collect())
    }

    /// Whether this option takes the next token as its value; `None` where it is none of these.
    fn takes_value(&self, token: &OsStr) -> Option<bool> {
        let option = token.to_str()?.strip_prefix("--")?;
        let (name, joined) = option.split_once('=').map_or((option, false), |(name, _)| (name, true));
        self.0.iter().find(|(known, _)| known == name).map(|(_, takes)| *takes && !joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(line: &str) -> String {
        let argv = std::iter::once("patchbay").chain(line.split_whitespace()).map(OsString::from).collect();
        let words = arrange(argv).into_iter().skip(1).map(|word| word.into_string().unwrap());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_of_mcp_add_stand_anywhere_and_others_belong_to_the_server() {
        for (line, expected) in [
            // plain
            ("mcp add x npx", "mcp add -- x npx"),
            ("mcp add x npx -y pkg /tmp", "mcp add -- x npx -y pkg /tmp"),
            ("mcp add x https://h/mcp", "mcp add -- x https://h/mcp"),
            // own options before, between and after
            ("mcp add --env A=1 x npx -y pkg", "mcp add --env=A=1 -- x npx -y pkg"),
            ("mcp add x --env A=1 npx -y pkg", "mcp add --env=A=1 -- x npx -y pkg"),
            ("mcp add x npx --env A=1 -y pkg", "mcp add --env=A=1 -- x npx -y pkg"),
            ("mcp add x npx -y pkg --env A=1", "mcp add --env=A=1 -- x npx -y pkg"),
            ("mcp add x npx -y pkg --env=A=1", "mcp add --env=A=1 -- x npx -y pkg"),
            ("mcp add x npx --disabled -y", "mcp add --disabled -- x npx -y"),
            ("mcp add x npx --env A=1 --env B=2", "mcp add --env=A=1 --env=B=2 -- x npx"),
            (
                "mcp add --env A=1 x --prefix p npx --tools a* -y pkg --env B=2 -- --env C=3",
                "mcp add --env=A=1 --prefix=p --tools=a* --env=B=2 -- x npx -y pkg --env C=3",
            ),
            // unknown options after the command are arguments, also those of every command
            ("mcp add x npx --verbose --port 80", "mcp add -- x npx --verbose --port 80"),
            ("mcp add x npx --environment A", "mcp add -- x npx --environment A"),
            ("mcp add x npx --json --config /c --help -h", "mcp add -- x npx --json --config /c --help -h"),
            ("mcp add x npx - -e A=1", "mcp add -- x npx - -e A=1"),
            // before the command they are options: clap knows them or says that it does not
            ("mcp add --json x npx", "mcp add --json -- x npx"),
            ("mcp add --config /c x npx --json", "mcp add --config=/c -- x npx --json"),
            ("mcp add x --verbose npx", "mcp add --verbose -- x npx"),
            ("mcp add --help", "mcp add --help"),
            ("mcp add x -h npx", "mcp add -h -- x npx"),
            // after `--` everything is literal
            ("mcp add -- x npx --env A=1", "mcp add -- x npx --env A=1"),
            ("mcp add x -- npx --env A=1", "mcp add -- x npx --env A=1"),
            ("mcp add x npx -- --env A=1 -- b", "mcp add -- x npx --env A=1 -- b"),
            ("mcp add x -- --odd-command", "mcp add -- x --odd-command"),
            ("mcp add x npx --", "mcp add -- x npx"),
            // values
            ("mcp add x npx --env -A=1", "mcp add --env=-A=1 -- x npx"),
            ("mcp add x npx --env", "mcp add --env -- x npx"),
            ("mcp add x npx --env -- --env", "mcp add --env -- x npx --env"),
            ("mcp add x npx --disabled=no", "mcp add --disabled=no -- x npx"),
            // options of every command before `mcp` and before `add`
            ("--config /c mcp --json add x npx -y", "--config /c mcp --json add -- x npx -y"),
            ("--config=/c mcp add x npx -y", "--config=/c mcp add -- x npx -y"),
            ("mcp add", "mcp add"),
        ] {
            assert_eq!(arranged(line), expected, "{line}");
        }
    }

    #[test]
    fn other_commands_stay_as_they_are() {
        for line in [
            "",
            "mcp",
            "mcp list --json",
            "status --config /c",
            "call mcp add {}",
            "--odd mcp add x npx -y",
            "--config",
        ] {
            assert_eq!(arranged(line), line);
        }
    }

    #[cfg(unix)]
    #[test]
    fn words_that_are_not_unicode_are_words() {
        use std::os::unix::ffi::OsStringExt as _;
        let odd = OsString::from_vec(b"--env\xff".to_vec());
        let argv = ["patchbay", "mcp", "add", "x", "npx"]
            .map(OsString::from)
            .into_iter()
            .chain([odd.clone()])
            .collect();
        assert_eq!(arrange(argv).last(), Some(&odd));
    }
}
