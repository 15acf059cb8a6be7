//! Proofs with real processes, for both Linux back ends, as root and as an unprivileged user.
#![expect(clippy::disallowed_methods, reason = "tests write files and start processes of their own")]

mod escapes;
mod house;
mod launchers;
mod rules;
