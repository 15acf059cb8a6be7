//! The engine: one workspace's servers – started at their first use, kept true to the settings, called.
//!
//! Owns lifecycle, catalogue, exposure, the call pipeline and the desk for questions. Knows no files, no other
//! workspace and no agents' protocol: `config` reads settings, `hub` holds the workspaces, `gateway` talks to agents.

mod backoff;
mod call;
mod catalogue;
mod clock;
mod confinement;
mod connect;
mod connection;
mod desk;
mod error;
mod exposure;
mod manager;
mod policy;
mod runtime;
mod server;

pub use call::{Call, Reply};
pub use clock::Clock;
pub use confinement::Confinement;
pub use desk::Desk;
pub use error::EngineError;
pub use exposure::{Naming, Offer, Target};
pub use manager::{DesiredSet, Manager, Wanted};
pub use runtime::{EnvLookup, LOOK_EVERY, Runtime, SecretLookup};
