//! A value that must not be shown.

use std::fmt;

use zeroize::Zeroizing;

/// A secret text. It prints as dots, cannot be serialised, and is overwritten when it is dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<Box<str>>);

impl Secret {
    /// The value itself: for handing over to where it is used, never for showing.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        // Turning a roomy `String` into a box would move it and leave a copy behind.
        let value = Zeroizing::new(value);
        Self(Zeroizing::new(value.as_str().into()))
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self(Zeroizing::new(value.into()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(••••••••)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_as_dots() {
        let secret = Secret::from("TESTSECRET1");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret(••••••••) Some(Secret(••••••••))");
        assert_eq!(secret.expose(), "TESTSECRET1");
    }
}
