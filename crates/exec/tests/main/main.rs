//! Real processes: how they start, what they get, and that every one of them ends.

mod end;
mod environment;
mod guard;
mod leftovers;
mod output;
mod owner;
mod shell;
mod support;
