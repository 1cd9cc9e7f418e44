//! Arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The sandbox's workers are this same binary; they must not set up anything else first.
    if let Some(code) = dagdeck::tools::sandbox::worker_main(std::env::args_os()) {
        return code;
    }
    ExitCode::SUCCESS
}
