//! `HostSetup`: what a host took from its surroundings when it began, so that a client with others can say so. Of values there are only
//! fingerprints with a salt of each host, never the values.

use crate::files;
use crate::host::Folders;
use crate::text::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, os::unix::fs::MetadataExt, path::Path};

/// The page that names every variable.
const PAGE: &str = include_str!("../configuration.md");

/// Variables that are those of each console, or that name the host itself.
const OWN: &str = "DAGDECK_HOME DAGDECK_THEME DAGDECK_LOG DAGDECK_HOST DAGDECK_HOST_IDLE_MS COLORTERM EDITOR NO_COLOR SSH_CONNECTION SSH_TTY TERM TMUX \
                   USER VISUAL";

/// Fingerprints of what a host was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSetup {
    salt: String,
    /// By what they are called for people; what isn't there has none.
    prints: BTreeMap<String, String>,
}

impl HostSetup {
    /// That of this process.
    pub(super) fn of_process(places: &Folders) -> Self {
        Self::salted(uuid::Uuid::now_v7().to_string(), places)
    }

    fn salted(salt: String, places: &Folders) -> Self {
        let print = |name: &str, value: &[u8]| {
            let digest =
                Sha256::new().chain_update(&salt).chain_update([0]).chain_update(name).chain_update([0]).chain_update(value).finalize();
            (name.to_owned(), hex(&digest[..8]))
        };
        let names = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let set = names.filter(|name| !OWN.split(' ').any(|own| own == *name)).filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut prints: BTreeMap<String, String> = set.map(|(name, value)| print(name, value.as_encoded_bytes())).collect();
        let (user, project) = places.config_files();
        let files = user
            .into_iter()
            .chain([project])
            .filter_map(|file| Some((file.display().to_string(), files::read_bytes(&file, files::DOCUMENT).ok()?)));
        prints.extend(files.map(|(name, text)| print(&name, &text)));
        let program = Path::new("/proc/self/exe").metadata().ok();
        prints.extend(program.map(|file| print("the program", format!("{} {} {}", file.dev(), file.ino(), file.mtime()).as_bytes())));
        Self { salt, prints }
    }

    /// What is another one in this process: variables, files, the program.
    pub fn differences(&self, places: &Folders) -> Vec<String> {
        let own = Self::salted(self.salt.clone(), places);
        let names = self.prints.keys().chain(own.prints.keys().filter(|name| !self.prints.contains_key(*name)));
        names.filter(|name| self.prints.get(*name) != own.prints.get(*name)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_changed_since_is_named_and_no_value_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let places = Folders {
            workspace: folder.path().into(),
            settings: folder.path().into(),
            home: folder.path().into(),
            config: Some(folder.path().into()),
        };
        std::fs::write(&file, "# secret-one").unwrap();
        let before = HostSetup::of_process(&places);
        assert_eq!(before.differences(&places), Vec::<String>::new());
        assert_ne!(HostSetup::of_process(&places), before, "each has a salt of its own");
        std::fs::write(&file, "# secret-two").unwrap();
        assert_eq!(before.differences(&places), [file.display().to_string()]);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(before.differences(&places), [file.display().to_string()]);
        assert!(!serde_json::to_string(&before).unwrap().contains("secret"));
    }
}
