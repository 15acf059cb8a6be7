//! Why a server's settings cannot be filled in. Names field and variable, never a value.

use thiserror::Error;

/// What a lookup of a secret fails with.
pub type LookupError = Box<dyn std::error::Error + Send + Sync>;

/// Why a server cannot start with its settings; the others are not touched by it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// A variable is not set and has no default.
    #[error("{field} uses the variable {variable}, which is not set")]
    Unset {
        /// The field, such as `env.API_TOKEN` or `args[3]`.
        field: String,
        /// The variable.
        variable: String,
    },
    /// The secret store has no such secret.
    #[error("{field} uses the secret {secret}, which is not stored")]
    NoSecret {
        /// The field.
        field: String,
        /// The secret's name.
        secret: String,
    },
    /// The secret store does not answer.
    #[error("{field} uses the secret {secret}, which cannot be read: {source}")]
    Store {
        /// The field.
        field: String,
        /// The secret's name.
        secret: String,
        /// The store's words.
        source: LookupError,
    },
    /// A `${` that is no reference.
    #[error("{field} holds {text}, which cannot be filled in: {reason}")]
    Reference {
        /// The field.
        field: String,
        /// What is written.
        text: String,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A place that somebody should have filled in by hand.
    #[error("{field} still holds the placeholder {text}")]
    Placeholder {
        /// The field.
        field: String,
        /// What is written.
        text: String,
    },
    /// A `~` that means another user's folder.
    #[error("{field} starts with {text}: only ~ and ~/ stand for the home folder")]
    Tilde {
        /// The field.
        field: String,
        /// What is written, up to the first separator.
        text: String,
    },
    /// What came out cannot be used.
    #[error("{field} {reason} once its variables are filled in")]
    Unusable {
        /// The field.
        field: String,
        /// Why, completing "field …".
        reason: &'static str,
    },
}

impl ExpandError {
    /// The field that it is about, such as `headers.Authorization`.
    #[must_use]
    pub fn field(&self) -> &str {
        match self {
            Self::Unset { field, .. }
            | Self::NoSecret { field, .. }
            | Self::Store { field, .. }
            | Self::Reference { field, .. }
            | Self::Placeholder { field, .. }
            | Self::Tilde { field, .. }
            | Self::Unusable { field, .. } => field,
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Unset { variable, .. } => {
                format!("Set {variable} where Patchbay is started, or give a default: ${{{variable}:-…}}.")
            }
            Self::NoSecret { secret, .. } => format!("Store it: patchbay secret set {secret}"),
            Self::Store { .. } => "Unlock the system's keyring, or see \"patchbay doctor\".".into(),
            Self::Reference { .. } => {
                "Write ${NAME}, ${NAME:-default}, ${env:NAME} or ${secret:NAME}.".into()
            }
            Self::Placeholder { .. } => "Replace it with a value, or with a variable such as ${NAME}.".into(),
            Self::Tilde { .. } => "Write the whole path.".into(),
            Self::Unusable { .. } => "Check the values of the variables in it.".into(),
        }
    }
}
