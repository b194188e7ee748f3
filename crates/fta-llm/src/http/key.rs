//! The key to a server, which nothing prints.

use std::{fmt, fs, io, path::Path};

use super::config::ConfigError;

/// A secret that is sent to the server and shown nowhere: `Debug` and `Display` print `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key as it is, without white space around it.
    ///
    /// For a key in the environment, the caller reads the variable: this crate does not.
    ///
    /// # Errors
    /// [`ConfigError::Key`] if nothing is left, or if it cannot be sent: only visible ASCII characters can.
    pub fn new(key: impl AsRef<str>) -> Result<Self, ConfigError> {
        let key = key.as_ref().trim();
        if key.is_empty() {
            return Err(ConfigError::Key { problem: "it is empty" });
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigError::Key { problem: "it has characters that cannot be sent in a header" });
        }
        Ok(Self(key.to_owned()))
    }

    /// Reads a key from a file that holds nothing else.
    ///
    /// # Errors
    /// [`ConfigError::KeyFile`] if the file cannot be read; [`ConfigError::Key`] as for [`ApiKey::new`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let failed = |kind: io::ErrorKind| ConfigError::KeyFile { path: path.to_owned(), kind };
        // Text that is not UTF-8 is an error of the kind `InvalidData`, whose message does not quote it.
        Self::new(fs::read_to_string(path).map_err(|error| failed(error.kind()))?)
    }

    /// The secret itself, for the header only.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// Puts `***` where a text quotes the key, in whole or shortened with stars as servers do.
    pub(super) fn redact(&self, text: &str) -> String {
        let text = text.replace(&self.0, "***");
        let starts: String = self.0.chars().take(4).collect();
        let is_part = |word: &str| word.contains(&starts) && (word.contains('*') || word.contains('.'));
        let words = text.split(' ').map(|word| if is_part(word) { "***" } else { word });
        words.collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_trimmed_checked_and_never_printed() {
        let key = ApiKey::new(" sk-secret-0123456789\n").unwrap();
        assert_eq!(key.expose(), "sk-secret-0123456789");
        assert_eq!(format!("{key} {key:?} {:?}", Some(&key)), "*** *** Some(***)");
        for bad in ["", "  \n", "a b", "schlüssel", "a\nb"] {
            let error = ApiKey::new(bad).unwrap_err();
            assert!(matches!(error, ConfigError::Key { .. }), "{bad:?}: {error}");
        }
    }

    #[test]
    fn keys_come_from_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        assert!(matches!(ApiKey::from_file(&path), Err(ConfigError::KeyFile { .. })));
        fs::write(&path, "sk-1\n").unwrap();
        assert_eq!(ApiKey::from_file(&path).unwrap().expose(), "sk-1");
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(ApiKey::from_file(&path), Err(ConfigError::KeyFile { .. })));
    }

    #[test]
    fn quoted_keys_are_cut_out() {
        let key = ApiKey::new("sk-secret-0123456789").unwrap();
        for quoted in ["sk-secret-0123456789", "sk-se**********6789", "'sk-secret-...789'."] {
            let text = key.redact(&format!("incorrect key provided: {quoted} try another"));
            assert_eq!(text, "incorrect key provided: *** try another");
        }
        assert_eq!(key.redact("no key here."), "no key here.");
    }
}
