//! Behaviour of the settings, project files, trust and watching, through the public interface.

mod fuzz;
mod project;
mod settings;
mod store;
mod watch;
