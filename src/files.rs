//! Reads the files that people and folders bring: regular files only, at most so large, and never waiting on a pipe or device. The tools
//! of agents read through `tools::workspace`, which keeps them inside the workspace as well. `beside` writes files whole.

pub mod beside;

use rustix::fs::{Mode, OFlags};
use std::{
    fs::{DirBuilder, File},
    io::{Error, ErrorKind, Read},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// The largest plan, theme, card or other document, in bytes.
pub const DOCUMENT: u64 = 16 << 20;

/// The largest run file, in bytes.
pub const RUN_FILE: u64 = 512 << 20;

/// The files of a folder with an ending, sorted; none where there is no such folder.
///
/// # Errors
/// When the folder can't be read.
pub fn with_ending(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, Error>>()?;
    paths.retain(|path| path.extension().is_some_and(|own| own == ending) && path.is_file());
    paths.sort();
    Ok(paths)
}

/// Makes a folder, and those above it, that only the user can look into; one that is there stays as it is.
///
/// # Errors
/// When it can't be made.
pub fn private_folder(folder: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The text of a regular file of at most `most` bytes.
///
/// # Errors
/// When there is none, it is something else (a folder, a pipe, a device), it is larger, or it isn't UTF-8. Links are followed.
pub fn read_text(path: &Path, most: u64) -> Result<String, Error> {
    text_of(read_bytes(path, most)?)
}

/// The same for a file that need not be text.
///
/// # Errors
/// When there is none, it is something else (a folder, a pipe, a device), or it is larger. Links are followed.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    // Without NONBLOCK, opening a pipe waits for a writer for ever.
    let file = File::from(rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?);
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    if !about.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    capped(file, most)
}

/// The text of a stream, such as standard input, of at most `most` bytes.
///
/// # Errors
/// When it is longer, can't be read, or isn't UTF-8.
pub fn read_capped(from: impl Read, most: u64) -> Result<String, Error> {
    text_of(capped(from, most)?)
}

fn capped(from: impl Read, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let size = if most >= 1 << 20 { format!("{} MiB", most >> 20) } else { format!("{} KiB", most >> 10) };
        return Err(Error::new(ErrorKind::FileTooLarge, format!("it is larger than {size}")));
    }
    Ok(bytes)
}

fn text_of(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        Error::new(ErrorKind::InvalidData, format!("it is not text: byte {at} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_cap() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.json");
        std::fs::write(&file, "x".repeat(2048)).unwrap();
        assert_eq!(read_text(&file, 2048).unwrap().len(), 2048);
        let refused = read_text(&file, 2047).unwrap_err();
        assert_eq!((refused.kind(), refused.to_string()), (ErrorKind::FileTooLarge, "it is larger than 1 KiB".to_owned()));
        std::fs::write(&file, [b'a', 0xff]).unwrap();
        assert_eq!(read_text(&file, 2048).unwrap_err().to_string(), "it is not text: byte 2 is not UTF-8");
    }

    #[test]
    fn devices_pipes_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        for (path, kind) in [
            (Path::new("/dev/zero"), ErrorKind::InvalidInput),
            (&pipe, ErrorKind::InvalidInput),
            (folder.path(), ErrorKind::IsADirectory),
            (&folder.path().join("none"), ErrorKind::NotFound),
        ] {
            assert_eq!(read_text(path, DOCUMENT).unwrap_err().kind(), kind, "{}", path.display());
        }
    }

    #[test]
    fn a_stream_without_an_end_is_cut_off_at_the_cap() {
        assert_eq!(read_capped(std::io::repeat(b'x'), 4096).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
