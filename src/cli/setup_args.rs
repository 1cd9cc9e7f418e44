//! The arguments of `dagdeck models setup`.

use crate::host::client::read_price;
use clap::Args;

#[derive(Debug, Args)]
pub struct SetupArgs {
    /// A provider (`openai`, `anthropic`, …), or the address of a server with an OpenAI-compatible API
    #[arg(value_name = "PROVIDER|ADDRESS")]
    pub server: Option<String>,
    /// The model, as its server knows it; it need not be listed
    #[arg(value_name = "MODEL")]
    pub name: Option<String>,
    /// Address of the provider, in place of its usual one
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<String>,
    /// Read the key from stdin; it is kept in a file that only you can read
    #[arg(long, group = "key")]
    pub key_stdin: bool,
    /// Shell command that prints the key
    #[arg(long, value_name = "COMMAND", group = "key")]
    pub key_command: Option<String>,
    /// Variable of the environment that holds the key
    #[arg(long, value_name = "NAME", group = "key")]
    pub key_env: Option<String>,
    /// Size of the model's context in tokens, if dagdeck doesn't know it
    #[arg(long, value_name = "N")]
    pub window: Option<u64>,
    /// US dollars per million tokens of prompts and of answers, as `0.15,0.6`
    #[arg(long, value_name = "IN,OUT", value_parser = read_price)]
    pub price: Option<(f64, f64)>,
    /// Print what was set up as JSON
    #[arg(long)]
    pub json: bool,
}
