//! Setting up a model from nothing, in the real program: by its keys in the console, and by its command line.

use crate::support::{
    chat::{ChatServer, Reply},
    program::Program,
};
use std::path::{Path, PathBuf};

const KEY: &str = "sk-typed-and-secret-1";

fn refused() -> Reply {
    Reply::Status(401, r#"{"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}"#.into(), Vec::new())
}

fn read(program: &Program, file: &str) -> String {
    std::fs::read_to_string(program.home().join(file)).unwrap()
}

/// The files below a folder that hold the key.
fn holding(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let holds = |file: &Path| String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).contains(KEY);
    entries
        .flat_map(|path| if path.is_dir() { holding(&path) } else { Some(path).filter(|path| holds(path)).into_iter().collect() })
        .collect()
}

#[test]
fn a_model_is_set_up_in_the_console_and_is_there_at_the_next_start() {
    let server = ChatServer::start(vec![refused(), Reply::Text("ready".into())]);
    let program = Program::new();
    let program = program.env("DAGDECK_LOCAL_SERVER", "none");
    let mut terminal = program.console((80, 24));
    terminal.sees("What do you want done?").send("\x1b").loses("What do you want done?").send("M").sees("set up a model: where is it?");
    terminal.send("another").sees("▶ another server").send("\r").sees("address of the server");
    terminal.send(&server.url).send("\r").sees("┌ key for");
    terminal.send("sk-wrong-key-333").sees("****************").send("\r").sees("▶ test-model").send("\r");
    // The key is wrong: another one is given where that is said.
    terminal.sees("refused the key").sees("▶ give another key").send("\r").sees("┌ key for");
    terminal.send(KEY).sees("*********************").send("\r").sees("test-model answers").sees("It works.");
    terminal.send("\x1b[B").sees("▶ its window").send("\r").sees("tokens that the model takes in");
    terminal.send("32,000\r").sees("32,000 tokens").sees("▶ make it the default").send("\r").sees("is the default now");
    terminal.sees("keys/local").send("\x1b").loses("the model is set up").sees("local/test-model");
    let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
    assert!(!raw.contains("sk-"), "no key was ever drawn");
    terminal.send("q").ended();

    let config = read(&program, ".config/dagdeck/config.toml");
    for words in
        ["default = \"local/test-model\"", &format!("base_url = \"{}\"", server.url), "api_key_file = \"keys/local\"", "test-model = 32000"]
    {
        assert!(config.contains(words), "{words}\n{config}");
    }
    assert_eq!(read(&program, ".config/dagdeck/keys/local").trim(), KEY);
    let listed = program.run(&["models"]);
    assert!(listed.out.contains("* test-model"), "{listed:?}");
    assert!(listed.err.contains("in use: test-model (it is the default in config.toml)"), "{listed:?}");
    assert_eq!(server.asked().last().unwrap().authorization, format!("Bearer {KEY}"));
    assert_eq!(holding(&program.home()), [program.home().join(".config/dagdeck/keys/local")], "the key is in its file and nowhere else");
}

#[test]
fn a_model_is_set_up_by_the_command_line() {
    let server = ChatServer::start(vec![Reply::Text("ready".into()), refused()]);
    let program = Program::new();
    let set_up = program.feed(&["models", "setup", &server.url, "test-model", "--key-stdin", "--price", "0.5,1"], format!("{KEY}\n"));
    assert_eq!((set_up.code, set_up.out.as_str()), (0, "default: local/test-model\n"), "{set_up:?}");
    assert!(set_up.err.contains("answered in") && set_up.err.contains("keys/local"), "{set_up:?}");
    let config = read(&program, ".config/dagdeck/config.toml");
    assert!(config.contains("test-model = { prompt = 0.5, completion = 1.0 }"), "{config}");

    let refused = program.feed(&["models", "setup", &server.url, "test-model", "--key-stdin"], "sk-wrong-key-333\n");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("refused the key") && refused.err.contains("--key-stdin"), "{refused:?}");
    assert!(!refused.err.contains("sk-"), "{refused:?}");
    assert_eq!(read(&program, ".config/dagdeck/config.toml"), config, "what doesn't work changes nothing");

    let nothing = program.feed(&["models", "setup"], "");
    assert!(nothing.code == 1 && nothing.err.contains("openai") && nothing.err.contains("this is no terminal"), "{nothing:?}");
}

#[test]
fn a_server_that_nobody_knows_is_said_to_be_no_address() {
    let ended = Program::new().run(&["models", "setup", "nosuch"]).code(1);
    ended.says(&["`nosuch` is neither a provider", "give the address of a server that runs, or the name of a provider"]);
}

#[test]
fn a_key_that_was_typed_for_one_server_is_sent_to_no_other() {
    let (first, second) = (ChatServer::start(vec![refused()]), ChatServer::start(vec![Reply::Text("ready".into())]));
    let program = Program::new().env("DAGDECK_LOCAL_SERVER", "none");
    let mut terminal = program.console((80, 24));
    terminal.sees("What do you want done?").send("\x1b").loses("What do you want done?").send("M").sees("set up a model: where is it?");
    // What is typed in the first step and is no provider is taken as the address.
    terminal.send(&first.url).sees("enter takes it as the address").send("\r").sees("┌ key for");
    terminal.send(KEY).sees("*********************").send("\r").sees("▶ test-model").send("\r").sees("refused the key");
    terminal.send("change").sees("▶ change the address").send("\r").sees("┌ address of the server");
    terminal.send("\x15").loses(&first.url).send(&second.url).send("\r").sees("┌ key for");
    terminal.send("\r").sees("test-model answers").sees("It works.").send("\x1b");
    assert!(first.keys().contains(&format!("Bearer {KEY}")));
    let keys = second.keys();
    assert!(!keys.is_empty() && keys.iter().all(String::is_empty), "{keys:?}");
}
