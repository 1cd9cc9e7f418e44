//! Arguments in, exit code out.

use dagdeck::{
    cli,
    tools::{KnownSecrets, sandbox},
};
use std::process::ExitCode;

fn main() -> ExitCode {
    // The sandbox's workers are this same binary; they must not set up anything else first.
    if let Some(code) = sandbox::worker_main(std::env::args_os()) {
        return code;
    }
    let (mut out, mut err, mut stdin) = (std::io::stdout(), std::io::stderr(), std::io::stdin());
    let mut io = cli::Io { out: &mut out, err: &mut err, stdin: &mut stdin, columns: cli::columns(), secrets: KnownSecrets::default() };
    cli::main(std::env::args_os(), &mut io).into()
}
